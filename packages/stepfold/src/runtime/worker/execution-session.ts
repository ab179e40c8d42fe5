import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import { isTerminal, type Snapshot, type Status } from "../../core/snapshot/snapshot.ts";
import { closeDraft } from "../../core/transition/draft/close-draft.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { statusOf, wakeAt } from "../../core/transition/draft/draft-status.ts";
import { openDraft } from "../../core/transition/draft/open-draft.ts";
import { scheduleWorkflowId } from "../../core/values/ids/reserved-ids.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { openTurn } from "../../engine/open-turn.ts";
import type { TurnSetting } from "../../engine/setting.ts";
import type { Turn } from "../../engine/turn.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import type { Commit } from "../../ports/snapshot-store.ts";
import { allowedGlobals, globalNamesOf } from "../context/allowed-globals.ts";
import { noticeOf } from "../context/changes.ts";
import { makeCommit } from "../context/make-commit.ts";
import { repeatEvery } from "../context/repeat-every.ts";
import { publishChange, type RuntimeContext } from "../context/runtime-context.ts";
import type { TimedClaim } from "../context/timed-claim.ts";
import { Outbox } from "../delivery/deliver-outbox.ts";
import type { Reservation } from "../local/load-budget.ts";
import type { LocalWork } from "../local/local-work.ts";
import type { OpenSession } from "../local/open-sessions.ts";
import type { LoadedExecution } from "./load-claimed.ts";
import { SessionLease } from "./session-lease.ts";

/** The longest time that a session lets commands of this process commit first: the store may not answer these commands. */
const maxPassMs = 250;
/** A session that has committed for `busyMs` without a gap leaves one of `gapMs`: long enough for another process to load and commit. */
const busyMs = 100;
const gapMs = 8;

/** Runs one claimed execution: turn after turn, each event committed, until nothing is due. Then the claim is given back. */
export class ExecutionSession implements OpenSession {
  readonly workflowId: string;
  /**
   * Resolves to the snapshot once nothing is due any more, or the session was drained, cut off or stopped between two commits. Rejects if a
   * commit failed because the claim was lost, or because the store did not answer before the end of the lease.
   */
  readonly done: Promise<Snapshot>;
  /** When the execution is due again, once the session is done. 0: at once. Null: time alone does not make it due. */
  wakeAt: EpochMs | null = null;
  /** True if the queue has a message for `wakeAt`, or needs none, once the session is done. */
  isAnnounced = false;
  status: Status;
  isOutlived = false;
  readonly #context: RuntimeContext;
  readonly #workflow: PreparedWorkflow;
  readonly #lease: SessionLease;
  readonly #reservation: Reservation;
  readonly #outbox: Outbox;
  #turn: Turn | null = null;
  /** The last commit of the turn has given the claim back. */
  #released = false;
  /** The claim is being given back by a call of its own. */
  #isReleasing = false;
  #draining = false;
  /** Set once the session must end at once. With `givesBack` the claim is given back. */
  #stopped: { readonly reason: unknown; readonly givesBack?: { readonly isCrash: boolean } } | null = null;
  /** The execution is being read again. `again`: a change came meanwhile, which the answer may not show. */
  #looking: { again: boolean } | null = null;
  /** When the session began to commit without a gap, on the monotonic clock; null after a gap. */
  #busySinceMs: number | null = null;
  /** When the session last committed, or began, on the monotonic clock. */
  #committedMs: number;
  /** The version that the session has loaded, or that its last commit has made. An older one in the store means that commits were lost. */
  #storedVersion: number;

  constructor(context: RuntimeContext, local: LocalWork, workflow: PreparedWorkflow, loaded: LoadedExecution) {
    const { claim, snapshot, reservation } = loaded;
    this.workflowId = claim.workflowId;
    this.#reservation = reservation;
    this.status = snapshot.status;
    this.#storedVersion = snapshot.version;
    this.#context = context;
    this.#workflow = workflow;
    this.#lease = new SessionLease(context, loaded);
    this.#outbox = new Outbox(context, local);
    this.#committedMs = context.environment.monotonicMs();
    const endRenewals = this.#renewals();
    this.done = this.#run(snapshot).finally(endRenewals);
  }

  /** Begins no more steps; `done` resolves once those in flight are committed. */
  drain(): void {
    this.#draining = true;
    this.#turn?.drain();
  }

  /** Ends the session at once: steps in flight get their `AbortSignal`, and their outcomes do not count. The claim ends with its lease. */
  stop(reason: unknown): void {
    this.#stopped ??= { reason };
    this.#turn?.stop(reason);
  }

  /**
   * Ends the session at once as `stop` does, and gives the claim back, so that other processes need not wait for the end of the lease.
   *
   * @param countsAsCrashAfterMs if the session has committed nothing for this time, the end counts as a crash. So an execution whose steps
   *   never fit into a time slice is parked after some slices
   */
  cutOff(reason: unknown, countsAsCrashAfterMs: number): void {
    const isCrash = this.#context.environment.monotonicMs() - this.#committedMs >= countsAsCrashAfterMs;
    this.#stopped ??= { reason, givesBack: { isCrash } };
    this.#turn?.stop(reason);
  }

  adopt(timed: TimedClaim): boolean {
    if (this.#released || this.#isReleasing || this.#stopped) return false;
    // the claim is for another execution, which has got the id of a deleted one, or it does not allow the steps in flight
    if (timed.claim.incarnation !== this.#lease.claim.incarnation || timed.claim.withoutPermit) {
      this.stop(this.#lease.lost);
      return false;
    }
    this.#lease.adopt(timed);
    if (this.#turn && timed.claim.version > this.#turn.draft.version) this.look();
    return true;
  }

  isBehind(version: number): boolean {
    return this.#storedVersion < version;
  }

  look(): void {
    if (this.#looking) this.#looking.again = true;
    if (this.#looking || this.#stopped) return;
    const looking = { again: false };
    this.#looking = looking;
    const loaded = (stored: Snapshot | null): void => {
      this.#looking = null;
      if (stored && this.#goesOnFrom(stored)) this.#turn?.refresh(stored);
      if (looking.again) this.look();
    };
    // if the store does not answer, the next commit finds the conflict
    this.#context.store.load(this.workflowId).then(loaded, () => loaded(null));
  }

  async #run(claimed: Snapshot): Promise<Snapshot> {
    for (let snapshot = claimed; ; ) {
      const after = await this.#oneTurn(snapshot);
      this.wakeAt = wakeAt(this.#turn!.draft);
      if (this.#released || isTerminal(after.status)) return after;
      // the next run follows another definition, which this session has not prepared
      if (!this.#follows(after)) this.#stopped ??= { reason: this.#lease.lost, givesBack: { isCrash: false } };
      if (this.#stopped) {
        const { givesBack } = this.#stopped;
        if (givesBack) await this.#lease.giveUp(after.version, givesBack.isCrash);
        return after;
      }
      this.#isReleasing = true;
      const stored = await this.#lease.release(after.version);
      if (!stored || !this.#goesOnFrom(stored)) return after;
      this.#isReleasing = false;
      snapshot = stored;
    }
  }

  /** Whether an execution follows the definition of this session. */
  #follows({ definition }: Snapshot): boolean {
    return definition.hash === this.#workflow.compiled.hash;
  }

  /**
   * Whether the session goes on from what other writers have stored. A restart ends it: the end of the execution before the restart has
   * ended the claim, and what steps in flight do is no part of what was opened again.
   */
  #goesOnFrom(stored: Snapshot): boolean {
    const { incarnation, restarts } = this.#turn!.draft;
    if (this.#follows(stored) && stored.incarnation === incarnation && (stored.restarts ?? 0) === restarts) return true;
    this.isOutlived ||= !this.#released && !this.#stopped;
    this.stop(this.#lease.lost);
    return false;
  }

  async #oneTurn(snapshot: Snapshot): Promise<Snapshot> {
    const { setting, globals, secrets, globalsFor, concurrency } = this.#context;
    const globalNames = globalNamesOf(globalsFor, snapshot.definition.id, snapshot.unnamed === true);
    this.#released = false;
    this.isAnnounced = false;
    const turn = openTurn(this.#workflow, openDraft(this.#workflow.compiled, snapshot), settingFor(snapshot, setting), {
      globals: allowedGlobals(globals, globalNames),
      secrets,
      globalNames,
      concurrency,
      // steps need the permit; time and messages do not
      ...(this.#lease.claim.withoutPermit && { stepLimit: 0 }),
      now: () => this.#lease.storeNow(),
      commit: (events, draft, last) => this.#commit(events, draft, last),
      deliver: (from) => this.#outbox.deliver(from, () => !this.#stopped && !this.#lease.isOver),
    });
    this.#turn = turn;
    if (this.#draining) turn.drain();
    if (this.#stopped) turn.stop(this.#stopped.reason);
    await turn.run();
    return closeDraft(turn.draft);
  }

  /** Commits events. Resolves to null, or to the stored snapshot if another writer was first. */
  #commit(events: readonly Event[], draft: Draft, last: boolean): Promise<Snapshot | null> {
    const send = () => this.#send(makeCommit(this.#context, draft, events, { claim: this.#lease.claim, release: last }), draft, last);
    const commandsInFlight = this.#context.commands.inFlight(this.workflowId);
    return commandsInFlight || this.#isBusy() ? this.#letCommandsCommit(commandsInFlight).then(send) : send();
  }

  /** Sends the commit that was made of the events. Resolves as `#commit` does. */
  async #send(commit: Commit, draft: Draft, last: boolean): Promise<Snapshot | null> {
    const { onProblem } = this.#context;
    // a session that was cut off still commits what was done before
    if (this.#stopped && !this.#stopped.givesBack) throw this.#stopped.reason;
    const { claim } = this.#lease;
    try {
      await this.#lease.persist(() => this.#write(commit, draft, last));
    } catch (error) {
      // this process has claimed the execution again meanwhile. The same commit is sent with the new fence, because the changes of the
      // draft are only in this commit
      if (StepfoldError.is(error, "FENCE_LOST") && this.#lease.claim !== claim)
        return this.#send({ ...commit, fence: this.#lease.claim.fence }, draft, last);
      const stored = isOvertaken(error) ? await this.#lease.load() : null;
      const same = stored !== null && this.#goesOnFrom(stored) && stored.version > commit.expectedVersion;
      // a writer that ends the execution also ends the claim; any other loss of the claim ends the session
      if (same && (isTerminal(stored.status) || !StepfoldError.is(error, "FENCE_LOST"))) return stored;
      this.stop(error);
      throw this.isOutlived ? this.#lease.lost : error;
    }
    if (this.#lease.claim === claim) this.#lease.committed();
    this.#reservation.resize(draft.sizeBytes);
    // a claim that was adopted during this commit must still be given back
    this.#released = last && this.#lease.claim === claim;
    this.status = statusOf(draft);
    this.#storedVersion = commit.head.version;
    this.#committedMs = this.#context.environment.monotonicMs();
    publishChange(this.#context, noticeOf(draft), commit.events);
    const { parked } = draft;
    if (parked && (parked.code === "COMPENSATION_FAILED" || commit.events.some(({ type }) => type === "parked")))
      onProblem(this.workflowId, new StepfoldError("EXECUTION_PARKED", { workflowId: this.workflowId, ...parked }));
    return null;
  }

  /**
   * Lets commands commit first: those that this process is committing (`commandsInFlight`), or, if it commits none (null), those of
   * other processes, about which nothing is known here. Otherwise an execution that never waits would always commit first, and could
   * hardly be cancelled.
   */
  async #letCommandsCommit(commandsInFlight: Promise<void> | null): Promise<void> {
    let endTimer = (): void => undefined;
    const longest = new Promise<void>((resolve) => {
      endTimer = this.#context.environment.after(commandsInFlight ? maxPassMs : gapMs, resolve);
    });
    await Promise.race([commandsInFlight ?? longest, longest]);
    endTimer();
    this.#busySinceMs = null;
  }

  /** Whether the session has committed for `busyMs` without a gap in which another writer could have been first. */
  #isBusy(): boolean {
    const at = this.#context.environment.monotonicMs();
    if (this.#busySinceMs === null || at - this.#committedMs >= gapMs) this.#busySinceMs = at;
    return at - this.#busySinceMs >= busyMs;
  }

  /** Not an async function: that would make every step wait for one more promise. */
  #write(commit: Commit, draft: Draft, last: boolean): Promise<void> {
    return last || commit.events.some(reliesOnOthers) ? this.#writeWith(commit, draft, last) : this.#context.store.commit(commit);
  }

  /**
   * Makes a commit after it has made sure of what the commit relies on: that definitions are stored, and that messages have arrived. If
   * the store and the queue share a database, the last commit also sends the message for the next due time in its transaction; otherwise
   * the dispatcher sends this message after the session.
   */
  async #writeWith(commit: Commit, draft: Draft, last: boolean): Promise<void> {
    const { store, wakeUpSender, registry, environment } = this.#context;
    const hasDelivered = commit.events.some(({ type }) => type === "delivered");
    if (hasDelivered) await this.#outbox.deliverLost(commit.head.version, () => !this.#lease.isOver);
    for (const hash of definitionsIn(commit.events)) {
      const prepared = await registry.pinnedForCommands(this.workflowId, hash);
      await registry.ensureStored(prepared, environment.monotonicMs());
    }
    if (last) this.isAnnounced = await wakeUpSender.sendWith(draft, commit, (whole) => store.commit(whole));
    else await store.commit(commit);
    if (hasDelivered) this.#outbox.committed();
  }

  /** Renews the claim every third of the lease, independently of the steps. Returns a function that ends the renewals. */
  #renewals(): () => void {
    let isRenewing = false;
    return repeatEvery(this.#context.environment, this.#lease.claim.leaseMs / 3, () => {
      if (isRenewing) return this.#stopIfOver();
      isRenewing = true;
      void this.#renew().finally(() => {
        isRenewing = false;
      });
    });
  }

  async #renew(): Promise<void> {
    const { claim } = this.#lease;
    const storedVersion = this.#storedVersion;
    try {
      const { version, status, isClockAhead } = await this.#lease.renew();
      // the store has failed over to a copy without the latest commits: what is known here is no longer true
      if (version < storedVersion) return this.stop(this.#lease.lost);
      if (isClockAhead) this.#turn?.checkTimers();
      if (isTerminal(status) || (this.#turn && version > this.#turn.draft.version)) this.look();
    } catch (error) {
      if (this.#lease.claim !== claim) return;
      if (StepfoldError.is(error, "FENCE_LOST")) this.stop(error);
      // a store that does not answer now may answer the next time, while the lease lasts
      else this.#stopIfOver();
    }
  }

  #stopIfOver(): void {
    if (this.#lease.isOver) this.stop(this.#lease.lost);
  }
}

/** A schedule begins its next run in time by itself, so that the limit of steps never ends it, however many commands come. */
function settingFor({ definition }: Snapshot, setting: TurnSetting): TurnSetting {
  if (definition.id !== scheduleWorkflowId) return setting;
  return { ...setting, limits: { ...setting.limits, steps: Number.POSITIVE_INFINITY } };
}

/** Whether an event relies on something that is stored outside the execution: messages that have arrived, or a definition. */
function reliesOnOthers(event: Event): boolean {
  return event.type === "delivered" || event.type === "continued" || ("starts" in event && event.starts !== undefined);
}

/** The hashes of the definitions that events name: of detached executions that they start, and of the next run. */
function definitionsIn(events: readonly Event[]): string[] {
  const hashes: string[] = [];
  for (const event of events) {
    if (event.type === "continued") hashes.push(event.definition.hash);
    if ("starts" in event && event.starts) hashes.push(event.starts.definition.hash);
  }
  return hashes;
}

/** Whether the store has refused a commit because another writer or another holder was first. */
function isOvertaken(error: unknown): boolean {
  return StepfoldError.is(error) && ["VERSION_CONFLICT", "EXECUTION_ENDED", "FENCE_LOST"].includes(error.code);
}
