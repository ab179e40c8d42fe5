import { closeDraft } from "../../core/draft/close-draft.ts";
import type { Draft } from "../../core/draft/draft.ts";
import { openDraft } from "../../core/draft/open-draft.ts";
import { statusOf, wakeAt } from "../../core/draft/standing.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import { isTerminal, type Snapshot, type Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { openTurn, type TurnSetting } from "../../engine/open-turn.ts";
import type { PreparedWorkflow } from "../../engine/prepared-workflow.ts";
import type { Turn } from "../../engine/turn.ts";
import type { Claimed, SnapshotStore } from "../../ports/snapshot-store.ts";
import type { Change } from "../context/changes.ts";
import { commitOf } from "../context/commit-of.ts";
import { every } from "../context/every.ts";
import { persist } from "../context/persist.ts";
import type { Registry } from "../context/registry.ts";
import type { StoreClock } from "../context/store-clock.ts";
import type { Messenger } from "../context/wake-up-sender.ts";

/** What driving needs beside the claim. */
export interface Driving {
  readonly store: SnapshotStore;
  readonly setting: TurnSetting;
  readonly globals: unknown;
  readonly concurrency: number;
  readonly newCommitId: () => string;
  readonly registry: Registry;
  readonly messenger: Messenger;
  readonly clock: StoreClock;
  /** Takes the messages of an execution to others; gives the ids of those that have arrived. */
  readonly deliver: (from: Draft) => Promise<readonly string[]>;
  /** Told once events are committed. */
  readonly onCommitted: (change: Change) => void;
}

/** One claimed execution being driven: plan, perform, apply, commit, until nothing is due; then the claim is given back. */
export class Drive {
  /** The snapshot when there was nothing more to do here. Rejects when the claim was lost. */
  readonly done: Promise<Snapshot>;
  /** When it is due again, once it is done: 0 for now, null for not by itself. */
  wakeAt: EpochMs | null = null;
  /** Whether somebody knows that, once it is done. */
  isTold = false;
  /** As it was committed last. */
  status: Status;
  readonly #claimed: Claimed;
  readonly #workflow: PreparedWorkflow;
  readonly #driving: Driving;
  readonly #claimedAtMs: number;
  /** When, by our own reckoning, another process may take over. */
  #leaseUntilMs: number;
  #turn: Turn | null = null;
  #released = false;
  #draining = false;
  #stopped: { readonly reason: unknown } | null = null;
  #looking = false;

  /** @param askedAtMs when the claim was asked for, by the monotonic clock: the lease began after that */
  constructor(claimed: Claimed, workflow: PreparedWorkflow, driving: Driving, askedAtMs: number) {
    this.#claimed = claimed;
    this.status = claimed.snapshot.status;
    this.#workflow = workflow;
    this.#driving = driving;
    this.#claimedAtMs = driving.setting.environment.monotonicMs();
    this.#leaseUntilMs = askedAtMs + claimed.claim.leaseMs;
    const endRenewals = this.#renewals();
    this.done = this.#drive().finally(endRenewals);
  }

  /** Begins no more steps; `done` follows once those under way are committed. */
  drain(): void {
    this.#draining = true;
    this.#turn?.drain();
  }

  /** Ends at once: steps under way get their signal, and do not count. */
  stop(reason: unknown): void {
    this.#stopped ??= { reason };
    this.#turn?.stop(reason);
  }

  /** Somebody else has committed: goes on from what is stored now. */
  look(): void {
    if (this.#looking || this.#stopped) return;
    this.#looking = true;
    const { store } = this.#driving;
    const seen = (stored: Snapshot | null): void => {
      this.#looking = false;
      if (stored) this.#turn?.refresh(stored);
    };
    // a store that does not answer is no news: the next commit will tell
    store.load(this.#claimed.claim.workflowId).then(seen, () => seen(null));
  }

  /** Turn after turn, until the claim is given back. */
  async #drive(): Promise<Snapshot> {
    for (let snapshot = this.#claimed.snapshot; ; ) {
      const after = await this.#oneTurn(snapshot);
      this.wakeAt = wakeAt(this.#turn!.draft);
      if (this.#released || this.#stopped || isTerminal(after.status)) return after;
      const stored = await this.#giveBack(after);
      if (!stored) return after;
      snapshot = stored;
    }
  }

  async #oneTurn(snapshot: Snapshot): Promise<Snapshot> {
    const { setting, globals, concurrency, deliver } = this.#driving;
    this.#released = false;
    this.isTold = false;
    const turn = openTurn(this.#workflow, openDraft(this.#workflow.compiled, snapshot), setting, {
      globals,
      concurrency,
      now: () => this.storeNow(),
      commit: (events, draft, last) => this.#commit(events, draft, last),
      deliver,
    });
    this.#turn = turn;
    if (this.#draining) turn.drain();
    if (this.#stopped) turn.stop(this.#stopped.reason);
    await turn.run();
    return closeDraft(turn.draft);
  }

  /** The store's clock: what it said with the claim, and the time that has passed since. */
  storeNow(): EpochMs {
    return this.#claimed.claim.claimedAt + Math.floor(this.#driving.setting.environment.monotonicMs() - this.#claimedAtMs);
  }

  /** Null once the events are committed; the stored snapshot where somebody else was first. */
  async #commit(events: readonly Event[], draft: Draft, last: boolean): Promise<Snapshot | null> {
    const { store, setting, newCommitId, onCommitted, messenger } = this.#driving;
    if (this.#stopped) throw this.#stopped.reason;
    const write = commitOf(draft, events, newCommitId(), { claim: this.#claimed.claim, release: last });
    try {
      await persist(
        setting.environment,
        () => this.#leaseUntilMs,
        async () => {
          await this.#keepDefinitions(events);
          if (last) this.isTold = await messenger.sendWith(draft, write, (whole) => store.commit(whole));
          else await store.commit(write);
        },
      );
    } catch (error) {
      const stored = overtaken(error) ? await this.#load() : null;
      const same = stored?.incarnation === write.incarnation && stored.version > write.expectedVersion;
      // whoever ended the execution has taken the claim with it; any other loss of the claim is for good
      if (same && (isTerminal(stored.status) || !StepfoldError.is(error, "FENCE_LOST"))) return stored;
      this.stop(error);
      throw error;
    }
    this.#released = last;
    this.status = statusOf(draft);
    onCommitted({ workflowId: draft.workflowId, version: draft.version, status: this.status, snapshot: () => closeDraft(draft) });
    return null;
  }

  /** What is stored now: asked again while the store does not answer, or what was done would be done twice. */
  #load(): Promise<Snapshot | null> {
    const { store, setting } = this.#driving;
    return persist(
      setting.environment,
      () => this.#leaseUntilMs,
      () => store.load(this.#claimed.claim.workflowId),
    );
  }

  /** What is to begin on its own has to be known to whoever begins it. */
  async #keepDefinitions(events: readonly Event[]): Promise<void> {
    const { registry } = this.#driving;
    for (const event of events) {
      if (!("starts" in event) || !event.starts) continue;
      await registry.keep(await registry.pinned(this.#claimed.claim.workflowId, event.starts.definition.hash));
    }
  }

  /** Null once the claim is given back; the stored snapshot if somebody committed meanwhile, so that it must be driven on. */
  async #giveBack(snapshot: Snapshot): Promise<Snapshot | null> {
    const { store, setting } = this.#driving;
    const { claim } = this.#claimed;
    try {
      await persist(
        setting.environment,
        () => this.#leaseUntilMs,
        () => store.release(claim, snapshot.version),
      );
      return null;
    } catch (error) {
      if (StepfoldError.is(error, "VERSION_CONFLICT")) return this.#load();
      throw error;
    }
  }

  /** Shows a sign of life every third of the lease, whatever the steps are doing. Returns how to end it. */
  #renewals(): () => void {
    const { environment } = this.#driving.setting;
    let isAsking = false;
    return every(environment, this.#claimed.claim.leaseMs / 3, () => {
      if (isAsking) return this.#endOfLease();
      isAsking = true;
      void this.#renew().finally(() => {
        isAsking = false;
      });
    });
  }

  async #renew(): Promise<void> {
    const { store, setting, clock } = this.#driving;
    const askedAtMs = setting.environment.monotonicMs();
    try {
      const { version, status, storeNow } = await store.renew(this.#claimed.claim);
      clock.tell(storeNow);
      this.#leaseUntilMs = askedAtMs + this.#claimed.claim.leaseMs;
      if (isTerminal(status) || (this.#turn && version > this.#turn.draft.version)) this.look();
    } catch (error) {
      if (StepfoldError.is(error, "FENCE_LOST")) this.stop(error);
      // a store that does not answer may do so the next time, while the lease runs
      else this.#endOfLease();
    }
  }

  /** Whoever has heard nothing for so long has to expect that others do the same by now. */
  #endOfLease(): void {
    const { workflowId } = this.#claimed.claim;
    if (this.#driving.setting.environment.monotonicMs() >= this.#leaseUntilMs) this.stop(new StepfoldError("FENCE_LOST", { workflowId }));
  }
}

function overtaken(error: unknown): boolean {
  return StepfoldError.is(error) && ["VERSION_CONFLICT", "EXECUTION_ENDED", "FENCE_LOST"].includes(error.code);
}
