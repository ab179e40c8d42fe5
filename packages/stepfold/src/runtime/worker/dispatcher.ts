import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot, SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { Notice } from "../../ports/event-feed.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { claimOne, type TimedClaim } from "../context/timed-claim.ts";
import type { ClaimedWork, InboxItem } from "../local/inbox.ts";
import type { ClaimedExecution } from "../local/load-budget.ts";
import { type LocalWork, wakeLater } from "../local/local-work.ts";
import type { OpenSession } from "../local/open-sessions.ts";
import { sharesOf } from "../local/slots.ts";
import { type LeftExecution, TimeSlice } from "../local/time-slice.ts";
import { ExecutionSession } from "./execution-session.ts";
import { workflowOrLeave } from "./leave-to-others.ts";
import { type LoadedExecution, loadClaimed } from "./load-claimed.ts";
import { parkCrashed } from "./park.ts";
import { Poller } from "./poller.ts";
import { QueueConsumer } from "./queue-consumer.ts";

/** How long `close` waits for steps to end after it has stopped them. */
const unwindMs = 500;

/**
 * The worker of a process: runs every claimed execution that comes into the inbox or is given to `run`, each in a session of its own. While
 * the worker is open, it also polls the store and consumes the queue for more executions.
 */
export class Dispatcher {
  readonly #context: RuntimeContext;
  readonly #local: LocalWork;
  readonly #sessions = new Set<ExecutionSession>();
  readonly #slices = new Set<TimeSlice>();
  /** Runs that have not freed their slots yet. */
  readonly #runs = new Set<Promise<unknown>>();
  #poller: Poller | null = null;
  #consumer: QueueConsumer | null = null;
  #isClosing = false;
  /** Ends the subscription to the feed. */
  #endHearing: () => void = () => undefined;

  constructor(context: RuntimeContext, local: LocalWork) {
    this.#context = context;
    this.#local = local;
    local.inbox.consume((item) => this.#receive(item));
  }

  /** Begins to look for due executions. @param slots the most executions that run at once */
  open(slots: number): void {
    const { queue, log, lease, registry } = this.#context;
    registry.beginToDrive();
    log?.info("Stepfold has begun to run executions", { owner: lease.owner, slots });
    const shares = sharesOf(slots, queue !== null);
    this.#local.slots.open(shares);
    this.#poller = new Poller(this.#context, this.#local);
    this.#endHearing = this.#context.feed.subscribe({ hear: (notice) => this.#heard(notice), missed: () => this.#poller?.pollSoon() });
    this.#context.feed.listen();
    if (queue) this.#consumer = new QueueConsumer(this.#context, this.#local, queue, shares.queued);
  }

  /**
   * Runs a claimed execution. If the worker is open, it then runs in the same slot the executions that waited for its permit; the returned
   * promise does not wait for these. It rejects if the execution could not run, or if a commit failed because the claim was lost.
   *
   * @returns the snapshot once the session has ended: nothing is due, or the worker or its time slice ends. Only the head if it was parked
   * after crashes; null if there was no room to load it, if it was deleted, or if it is left to others because it cannot run here
   */
  run(work: ClaimedWork): Promise<SnapshotHead | null> {
    const first = this.#runOne(work, work.slice ?? null);
    const all = this.#runOthersOfKey(first).finally(() => {
      this.#runs.delete(all);
      work.slot.free();
      this.#poller?.slotFreed();
    });
    this.#runs.add(all);
    return first;
  }

  /** Opens a time slice in which claimed executions run. The caller ends it; when the dispatcher closes, nothing more begins in it. */
  openSlice(options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined }): TimeSlice {
    const slice = new TimeSlice(this.#context.environment, { ...options, onEnd: () => this.#slices.delete(slice) });
    this.#slices.add(slice);
    return slice;
  }

  /** Takes no more work, and waits for the steps in flight. After `timeoutMs` they are stopped, and their claims run out. */
  async close(timeoutMs: number): Promise<void> {
    const { slots } = this.#local;
    slots.close();
    this.#isClosing = true;
    this.#endHearing();
    const sourcesClosed = Promise.all([this.#poller?.close(), this.#consumer?.close()]);
    this.#poller = null;
    this.#consumer = null;
    const { environment, log, lease } = this.#context;
    let cancel = (): void => undefined;
    // a store or a queue that never answers does not keep the process from ending
    const timeout = new Promise<void>((resolve) => {
      cancel = environment.after(timeoutMs, () => {
        const reason = new StepfoldError("RUNTIME_CLOSED", { action: "wait for this step any longer" });
        for (const session of this.#sessions) session.stop(reason);
        cancel = environment.after(unwindMs, resolve);
      });
    });
    for (const slice of this.#slices) slice.drain();
    for (const session of this.#sessions) session.drain();
    const allDone = async (): Promise<void> => {
      await Promise.allSettled(this.#runs);
      await Promise.all([sourcesClosed, ...this.#local.wakes]);
      // now for executions that were claimed while the sources closed; their sessions were drained when they began
      await Promise.allSettled(this.#runs);
    };
    await Promise.race([allDone(), timeout]);
    cancel();
    this.#isClosing = false;
    log?.info("Stepfold has stopped running executions", { owner: lease.owner });
  }

  #receive(item: InboxItem): void {
    if (item === "unclaimed") this.#poller?.noteMoreDue();
    else void this.run(item);
  }

  /**
   * Handles a notice of the feed: a session that is behind reads its execution again. Without a queue, other due executions cause a poll.
   */
  #heard({ kind, workflowId, version }: Notice): void {
    const session = this.#local.sessions.get(workflowId);
    if (session) {
      // the process that has committed the change also tells the queue when the execution is due
      if (session.isBehind(version)) this.#local.sessions.wake({ workflowId, version, wakeAt: null, isAnnounced: true });
    } else if (kind === "due" && !this.#context.queue) this.#poller?.pollSoon();
  }

  async #runOne(timed: ClaimedExecution, slice: TimeSlice | null = null): Promise<SnapshotHead | null> {
    const { workflowId, leaseMs, claimedAt } = timed.claim;
    const { environment, clock, onProblem } = this.#context;
    const { sessions } = this.#local;
    clock.observe(claimedAt);
    // this process has just written the execution: a `result()` that is called before the session opens waits for it, without a read
    if (timed.snapshot) sessions.expect(workflowId, timed.snapshot.status);
    try {
      // the answer to the claim took as long as the lease, so another process may hold the execution by now
      if (environment.monotonicMs() >= timed.askedAtMs + leaseMs) throw new StepfoldError("FENCE_LOST", { workflowId });
      const goneOn = await this.#goOnIn(sessions.get(workflowId), timed);
      if (goneOn) return goneOn;
      if (timed.claim.crashes >= this.#context.maxCrashes) return await parkCrashed(this.#context, timed.claim);
      const loaded = await loadClaimed(this.#context, this.#local, timed);
      if (loaded) return await this.#runLoaded(loaded, slice).finally(() => loaded.reservation.free());
      this.#poller?.noteGivenBack();
      return null;
    } catch (error) {
      if (!StepfoldError.is(error, "FENCE_LOST")) onProblem(workflowId, error);
      throw error;
    } finally {
      // needed if no session was opened: the execution was given back, was parked or could not run
      if (timed.snapshot) sessions.unexpect(workflowId);
      timed.reservation?.free();
    }
  }

  /**
   * Lets a session that runs the execution here go on under the new claim. It has not noticed that its own claim is over: the process stood
   * still, a clock was set, or another process has ended the execution, and somebody has restarted it.
   *
   * @returns the snapshot once the session has ended; null if there is none, or if the claim needs a new one
   */
  async #goOnIn(session: OpenSession | null, timed: TimedClaim): Promise<Snapshot | null> {
    if (!session) return null;
    const isAdopted = session.adopt(timed);
    try {
      const ended = await session.done;
      if (isAdopted && !session.isOutlived) return ended;
    } catch (error) {
      if (isAdopted && !session.isOutlived) throw error;
    }
    return null;
  }

  /** Runs a loaded execution; null if it was left to others. */
  async #runLoaded(loaded: LoadedExecution, slice: TimeSlice | null): Promise<Snapshot | null> {
    const found = await workflowOrLeave(this.#context, loaded);
    if ("workflow" in found) return this.#runSession(new ExecutionSession(this.#context, this.#local, found.workflow, loaded), slice);
    if (found.parked) return found.parked;
    const { workflowId, version } = loaded.snapshot;
    this.#context.feed.tell("due", { workflowId, version });
    if (!slice) await this.#context.wakeUpSender.sendOn([{ workflowId }]);
    return null;
  }

  async #runSession(session: ExecutionSession, slice: TimeSlice | null): Promise<Snapshot> {
    const { sessions } = this.#local;
    const { workflowId } = session;
    this.#sessions.add(session);
    sessions.add(session);
    this.#poller?.forget(workflowId);
    if (this.#isClosing) session.drain();
    slice?.add(session);
    let left: LeftExecution | null = null;
    try {
      const snapshot = await session.done;
      const isAnnounced = await this.#announceNext(session, snapshot);
      if (session.wakeAt === 0) left = { workflowId, isAnnounced };
      return snapshot;
    } finally {
      slice?.remove(session, left);
      this.#sessions.delete(session);
      wakeLater(this.#context, this.#local, sessions.remove(session), true);
    }
  }

  /**
   * Announces when the execution is due again: the queue gets a message; without a queue the poller of this process remembers the time.
   *
   * @returns whether the queue has a message, or needs none
   */
  async #announceNext(session: ExecutionSession, snapshot: Snapshot): Promise<boolean> {
    const { queue, feed, wakeUpSender } = this.#context;
    // the execution was given back while it is due, because this process or its time slice ends
    if (session.wakeAt === 0) feed.tell("due", { workflowId: snapshot.workflowId, version: snapshot.version });
    if (queue) return session.isAnnounced || wakeUpSender.send(snapshot, session.wakeAt);
    this.#poller?.expect(snapshot);
    return false;
  }

  /** Runs the executions that waited for the permit of the first one, one after the other, without waiting for a poll. */
  async #runOthersOfKey(first: Promise<SnapshotHead | null>): Promise<void> {
    try {
      for (let ended = await first; ended?.permit && this.#local.slots.isOpen; ) {
        const claim = await claimOne(this.#context, { permitOf: ended });
        if (!claim) return;
        ended = await this.#runOne(claim);
      }
    } catch {
      // `#runOne` has reported the error of a run; the next poll finds the executions that wait for the permit
    }
  }
}
