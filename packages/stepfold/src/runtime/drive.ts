import { closeDraft, openDraft, statusOf } from "../core/draft.ts";
import type { Event } from "../core/event.ts";
import { isTerminal, type Snapshot } from "../core/snapshot.ts";
import { StepfoldError } from "../core/stepfold-error.ts";
import { openTurn, type TurnSetting } from "../engine/open-turn.ts";
import type { PreparedWorkflow } from "../engine/prepared-workflow.ts";
import type { Turn } from "../engine/turn.ts";
import type { Claimed, SnapshotStore } from "../ports/snapshot-store.ts";
import { commitOf } from "./commit-of.ts";
import { persist } from "./persist.ts";

/** What driving needs beside the claim. */
export interface Driving {
  readonly store: SnapshotStore;
  readonly setting: TurnSetting;
  readonly globals: unknown;
  readonly concurrency: number;
  readonly newCommitId: () => string;
  /** Told of each event once it is committed. */
  readonly onCommitted: (
    snapshot: { readonly workflowId: string; readonly version: number; readonly status: Snapshot["status"] },
    events: readonly Event[],
  ) => void;
}

/** An execution that is being driven here. */
export interface Drive {
  /** The snapshot when there was nothing more to do, or the claim was lost. */
  readonly done: Promise<Snapshot>;
  /** Begins no more steps; `done` follows once those under way are committed. */
  drain(): void;
  /** Ends at once; steps under way get their signal and do not count. */
  stop(reason: unknown): void;
  /** Somebody else has committed: look. */
  look(): void;
}

/** Drives a claimed execution: plan, perform, apply, commit, until nothing is due; then gives the claim back. */
export function drive(claimed: Claimed, workflow: PreparedWorkflow, driving: Driving): Drive {
  const { store, setting } = driving;
  const { environment } = setting;
  const { claim, storeNow } = claimed;
  const claimedAt = environment.monotonicMs();
  const now = (): number => storeNow + Math.floor(environment.monotonicMs() - claimedAt);
  let leaseUntil = claimedAt + claim.leaseMs;
  let turn: Turn | null = null;
  let draining = false;
  let stopped: { readonly reason: unknown } | null = null;
  let looking = false;

  const stop = (reason: unknown): void => {
    stopped ??= { reason };
    turn?.stop(reason);
  };

  const look = (): void => {
    if (looking || stopped) return;
    looking = true;
    // a failure is no news: the next commit or renewal will tell
    store
      .load(claim.workflowId)
      .then(
        (stored) => stored && turn?.refresh(stored),
        () => undefined,
      )
      .finally(() => {
        looking = false;
      });
  };

  const renew = async (): Promise<void> => {
    try {
      const { version, status } = await store.renew(claim);
      leaseUntil = environment.monotonicMs() + claim.leaseMs;
      if (isTerminal(status) || (turn && version > turn.draft.version)) look();
    } catch (error) {
      if (StepfoldError.is(error, "FENCE_LOST")) stop(error);
    }
  };

  const keepLease = (): (() => void) => {
    let cancel: () => void;
    const arm = (): void => {
      cancel = environment.after(claim.leaseMs / 3, () => {
        arm();
        void renew();
      });
    };
    arm();
    return () => cancel();
  };

  const commit = async (events: readonly Event[], draft: Turn["draft"], last: boolean): Promise<Snapshot | null> => {
    if (stopped) throw stopped.reason;
    const write = commitOf(draft, events, driving.newCommitId(), { claim, release: last });
    try {
      await persist(environment, leaseUntil, () => store.commit(write));
      driving.onCommitted({ workflowId: draft.workflowId, version: draft.version, status: statusOf(draft) }, events);
      return null;
    } catch (error) {
      const stored =
        StepfoldError.is(error, "VERSION_CONFLICT") || StepfoldError.is(error, "EXECUTION_ENDED")
          ? await store.load(claim.workflowId)
          : null;
      if (stored?.incarnation === claim.incarnation && stored.version > write.expectedVersion) return stored;
      stop(error);
      throw error;
    }
  };

  /** Turn after turn, until the claim could be given back. */
  const run = async (first: Snapshot): Promise<Snapshot> => {
    for (let snapshot: Snapshot | null = first; snapshot; ) {
      let released = false;
      turn = openTurn(workflow, openDraft(workflow.compiled, snapshot), setting, {
        globals: driving.globals,
        concurrency: driving.concurrency,
        now,
        commit: async (events, draft, last) => {
          const stored = await commit(events, draft, last);
          if (!stored) released = last;
          return stored;
        },
      });
      if (draining) turn.drain();
      if (stopped) turn.stop(stopped.reason);
      await turn.run();
      const after = closeDraft(turn.draft);
      if (released || stopped || isTerminal(after.status)) return after;
      snapshot = await giveBack(after);
      if (!snapshot) return after;
    }
    return first;
  };

  /** Null once the claim is given back; the stored snapshot if somebody committed meanwhile, so that it must be driven on. */
  const giveBack = async (snapshot: Snapshot): Promise<Snapshot | null> => {
    try {
      await persist(environment, leaseUntil, () => store.release(claim, snapshot.version));
      return null;
    } catch (error) {
      if (StepfoldError.is(error, "VERSION_CONFLICT")) return store.load(claim.workflowId);
      throw error;
    }
  };

  const endLease = keepLease();
  const done = run(claimed.snapshot).finally(endLease);
  return {
    done,
    stop,
    look,
    drain() {
      draining = true;
      turn?.drain();
    },
  };
}
