import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { aCount, anything, aSignal, checkOptions, must } from "../../core/values/check-arguments.ts";
import { isWorkflowId } from "../../core/values/ids/id.ts";
import { namedDelay } from "../../ports/named-delay.ts";
import type { WakeUp } from "../../ports/work-queue.ts";
import { type RuntimeContext, requireAtLeastOne } from "../context/runtime-context.ts";
import { claimOne, claimSome, type TimedClaim } from "../context/timed-claim.ts";
import { giveBack } from "../local/give-back.ts";
import type { LocalWork } from "../local/local-work.ts";
import type { LeftExecution, TimeSlice } from "../local/time-slice.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { wakeUpForOthers } from "./wake-up-for-others.ts";

/** What to sweep, and for how long. */
export interface SweepOptions {
  /** The most executions that are taken. Default 1,000. */
  readonly limit?: number | undefined;
  /** The most executions that run at once. Default: `maxExecutions` of the runtime. */
  readonly concurrency?: number | undefined;
  /** The longest time that the call takes, in milliseconds. Default 10,000. In its last quarter no execution and no step begins. */
  readonly timeoutMs?: number | undefined;
  /**
   * Messages of a queue: only the executions that they name are taken. Executions that are not due, or that another process holds, are
   * skipped. A message with a `delayMs` above 0 is sent on to the queue of the runtime; the delay counts as at most 12 hours.
   */
  readonly wakeUps?: readonly WakeUp[] | undefined;
  /** Ends the call early: steps in flight get their `AbortSignal`, and claims are given back. */
  readonly signal?: AbortSignal | undefined;
}

/** An execution that could not be advanced. */
export interface FailedExecution {
  readonly workflowId: string;
  /** The reason; usually the store did not answer. */
  readonly error: unknown;
}

/** What a sweep has done, and what is left. */
export interface SweepReport {
  /** The number of executions that were claimed and run, or were parked instead. */
  readonly advanced: number;
  /** The known executions that still have something to do: they were given back when the time was over, or were not reached. */
  readonly left: readonly LeftExecution[];
  readonly failed: readonly FailedExecution[];
  /** True if more executions may be due for which the queue has no message: call `sweep` again. */
  readonly isMore: boolean;
}

/** What a sweep works with. */
export interface SweepParts {
  readonly context: RuntimeContext;
  readonly local: LocalWork;
  readonly dispatcher: Dispatcher;
  /** The most executions that run at once, if the caller gives no `concurrency`. */
  readonly concurrency: number;
}

/** Messages that name executions. One that names none could claim any execution. */
const ofExecutions = must("be a list of messages that name executions", (wakeUps) => {
  return Array.isArray(wakeUps) && wakeUps.every((wakeUp) => isWorkflowId(safeMember(wakeUp, "workflowId")));
});
const defaultLimit = 1_000;
const defaultTimeoutMs = 10_000;
/** The most due executions that a sweep without `wakeUps` sends on to the queue at its end. */
const maxSentOn = 100;

/**
 * Runs executions that are due, for a bounded time.
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`, `STORE_UNAVAILABLE` if the first claim fails (with `wakeUps` the report has it)
 */
export async function sweep(parts: SweepParts, options: SweepOptions): Promise<SweepReport> {
  checkOptions("sweep", options, { limit: aCount, concurrency: aCount, timeoutMs: anything, wakeUps: ofExecutions, signal: aSignal });
  const { limit = defaultLimit, concurrency = parts.concurrency, timeoutMs = defaultTimeoutMs, wakeUps, signal } = options;
  requireAtLeastOne({ timeoutMs });
  const slice = parts.dispatcher.openSlice({ timeoutMs, signal });
  try {
    const sweeping = new Sweeping(parts, slice, { limit, concurrency });
    await (wakeUps ? sweeping.takeNamed(wakeUps) : sweeping.takeDue());
    await sweeping.settled();
    return sweeping.report();
  } finally {
    slice.end();
  }
}

/** One sweep while it runs. */
class Sweeping {
  readonly #parts: SweepParts;
  readonly #slice: TimeSlice;
  readonly #limit: number;
  readonly #concurrency: number;
  readonly #running = new Map<string, Promise<void>>();
  readonly #left: LeftExecution[] = [];
  readonly #failed: FailedExecution[] = [];
  /** Executions that count for the limit: they were claimed, or a message named them. */
  #taken = 0;
  #advanced = 0;
  #isMore = false;

  constructor(parts: SweepParts, slice: TimeSlice, { limit, concurrency }: { readonly limit: number; readonly concurrency: number }) {
    this.#parts = parts;
    this.#slice = slice;
    this.#limit = limit;
    this.#concurrency = concurrency;
  }

  /** Takes due executions until there are no more. It waits for running ones, because their end may make others due. */
  async takeDue(): Promise<void> {
    const { context, local } = this.#parts;
    while (this.#mayTake) {
      if (this.#freeCapacity <= 0 || local.budget.isFull) await this.#nextEnd();
      else if (!(await this.#claimSome(this.#freeCapacity))) {
        if (this.#running.size === 0) return;
        await this.#nextEnd();
      }
    }
    this.#isMore = true;
    if (context.queue) await this.#untilOver(this.#sendOnDue());
  }

  /** Takes the executions that messages name, each once. Messages that are early, or are not reached, are sent on to the queue. */
  async takeNamed(wakeUps: readonly WakeUp[]): Promise<void> {
    const early: WakeUp[] = [];
    const named = new Set<string>();
    for (const wakeUp of wakeUps) {
      const delayMs = namedDelay(wakeUp.delayMs);
      if (delayMs > 0) early.push({ ...wakeUp, delayMs });
      else named.add(wakeUp.workflowId);
    }
    const sending = this.#sendOn(early);
    for (const workflowId of named) {
      while (this.#freeCapacity <= 0 && this.#mayTake) await this.#nextEnd();
      if (!this.#mayTake) break;
      named.delete(workflowId);
      this.#taken++;
      this.#run(workflowId, () => this.#runNamed(workflowId));
    }
    await this.#untilOver(Promise.all([sending, this.#sendOn([...named].map((workflowId) => ({ workflowId })))]));
  }

  /** Resolves when all taken executions have ended, or when the time is up. */
  async settled(): Promise<void> {
    await this.#untilOver(Promise.all(this.#running.values()));
    // these executions still run, because the store or the queue does not answer; their claims end with the leases
    for (const workflowId of this.#running.keys()) this.#left.push({ workflowId, isAnnounced: false });
  }

  report(): SweepReport {
    const left = [...this.#slice.left, ...this.#left];
    return { advanced: this.#advanced, left, failed: [...this.#failed], isMore: this.#isMore };
  }

  get #mayTake(): boolean {
    return this.#slice.isOpen && this.#taken < this.#limit;
  }

  /** How many more executions may be taken at this moment. */
  get #freeCapacity(): number {
    return Math.min(this.#concurrency - this.#running.size, this.#limit - this.#taken);
  }

  /** Waits until an execution has ended, or nothing more may begin. */
  async #nextEnd(): Promise<void> {
    await Promise.race([...this.#running.values(), this.#slice.draining]);
  }

  /** Waits for the end of some work, or until the time of the sweep is up. */
  async #untilOver(work: Promise<unknown>): Promise<void> {
    await Promise.race([work, this.#slice.over]);
  }

  /**
   * Claims due executions and begins to run them.
   *
   * @returns true if more may be due: see `claimSome`; or if the store failed, which ends the slice
   * @throws the error of the store if nothing was claimed before
   */
  async #claimSome(limit: number): Promise<boolean> {
    const { context } = this.#parts;
    const { environment, onProblem } = context;
    const askedAtMs = environment.monotonicMs();
    try {
      const { claims, isMore } = await this.#inTime(claimSome(context, limit));
      this.#taken += claims.length;
      for (const claim of claims) this.#run(claim.workflowId, async () => void (await this.#runClaimed({ claim, askedAtMs })));
      return isMore;
    } catch (error) {
      if (this.#taken === 0) throw error;
      onProblem(null, error);
      this.#slice.drain();
      return true;
    }
  }

  /** Returns the claims. Throws if the store has not answered when the time is up; claims that come after that are given back. */
  async #inTime(claiming: ReturnType<typeof claimSome>): ReturnType<typeof claimSome> {
    const due = await Promise.race([claiming, this.#slice.over]);
    if (due) return due;
    const { store } = this.#parts.context;
    // a claim that cannot be given back ends with its lease
    claiming.then(({ claims }) => Promise.all(claims.map((claim) => giveBack(store, claim, claim.version)))).catch(() => undefined);
    throw new StepfoldError("STORE_UNAVAILABLE", { store: store.name, reason: "there was no answer before the end of the sweep" });
  }

  #run(workflowId: string, work: () => Promise<void>): void {
    const failed = (error: unknown): void => void this.#failed.push({ workflowId, error });
    const running = work()
      .catch(failed)
      .finally(() => this.#running.delete(workflowId));
    this.#running.set(workflowId, running);
  }

  /** Runs an execution that a message names, then those that waited for its permit: the queue may have no message for these any more. */
  async #runNamed(workflowId: string): Promise<void> {
    const { context } = this.#parts;
    const claim = await claimOne(context, { workflowId });
    if (!claim) await this.#sendOn(await wakeUpForOthers(context, workflowId));
    let ended = claim && (await this.#runClaimed(claim));
    while (ended?.permit) {
      const next = await claimOne(this.#parts.context, { permitOf: ended });
      if (!next) return;
      if (!this.#mayTake) return this.#sendOnClaimed([next]);
      this.#taken++;
      ended = await this.#runClaimed(next);
    }
  }

  async #runClaimed(timed: TimedClaim): Promise<SnapshotHead | null> {
    const { dispatcher, local } = this.#parts;
    const { workflowId } = timed.claim;
    try {
      const ended = await dispatcher.run({ ...timed, slot: local.slots.take("local"), slice: this.#slice });
      if (ended) this.#advanced++;
      // the execution was given back because there was no room in memory, or it was deleted
      else await this.#sendOn([{ workflowId }]);
      return ended;
    } catch (error) {
      // another process holds the execution
      if (StepfoldError.is(error, "FENCE_LOST")) return null;
      throw error;
    }
  }

  /**
   * Sends the queue messages for due executions that were not taken and whose own messages seem to be lost (`claimSome`). They are found
   * by a claim, which is given back.
   */
  async #sendOnDue(): Promise<void> {
    const { context } = this.#parts;
    const { environment, onProblem } = context;
    const askedAtMs = environment.monotonicMs();
    try {
      const { claims, isMore } = await claimSome(context, maxSentOn);
      await this.#sendOnClaimed(claims.map((claim) => ({ claim, askedAtMs })));
      this.#isMore = isMore || this.#left.some(({ isAnnounced }) => !isAnnounced);
    } catch (error) {
      onProblem(null, error);
    }
  }

  async #sendOnClaimed(timed: readonly TimedClaim[]): Promise<void> {
    const { store } = this.#parts.context;
    await Promise.all(timed.map(({ claim }) => giveBack(store, claim, claim.version)));
    await this.#sendOn(timed.map(({ claim: { workflowId } }) => ({ workflowId })));
  }

  /** Sends messages to the queue of the runtime, and adds their executions to those that are left. */
  async #sendOn(wakeUps: readonly WakeUp[]): Promise<void> {
    if (wakeUps.length === 0) return;
    const isAnnounced = await this.#parts.context.wakeUpSender.sendOn(wakeUps);
    this.#left.push(...wakeUps.map(({ workflowId }) => ({ workflowId, isAnnounced })));
  }
}
