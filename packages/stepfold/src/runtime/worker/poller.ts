import { openScopes } from "../../core/snapshot/address.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import { earliestTime } from "../../core/transition/draft/draft-status.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { claimSome } from "../context/timed-claim.ts";
import type { LocalWork } from "../local/local-work.ts";

/** The most due times that are remembered. The latest ones are forgotten first; the regular poll finds them at most `pollMs` late. */
const maxDueTimes = 1_000;
/** How long after its due time an execution still causes polls between the regular ones. */
const lateMs = 20;
/** The limits of the time between polls that hints cause. It doubles while polls find nothing, because other workers were first. */
const minHintGapMs = 5;
const maxHintGapMs = 50;

/** Polls the store for executions that are due and held by no process: timers, retries, and executions whose worker died. */
export class Poller {
  readonly #context: RuntimeContext;
  readonly #local: LocalWork;
  /** When executions that ran here are due again, by their ids; at most `maxDueTimes`, the earliest. */
  readonly #dueTimes = new Map<string, EpochMs>();
  #cancel: () => void = () => undefined;
  #cancelRegular: () => void = () => undefined;
  #nextPollMs = Number.POSITIVE_INFINITY;
  #polling: Promise<void> | null = null;
  /** More executions were due than could be claimed. */
  #isMore = false;
  /** A hint came during a poll. The poll may have missed its execution, so another poll follows. */
  #isHinted = false;
  /** Hints cause no poll before this time on the monotonic clock. */
  #hintsFromMs = Number.NEGATIVE_INFINITY;
  #hintGapMs = minHintGapMs;
  #closed = false;
  /**
   * The most executions that one poll claims, even if more slots are free. It falls when a claimed execution finds no room in memory, and
   * doubles with every poll.
   */
  #maxClaims = Number.MAX_SAFE_INTEGER;

  constructor(context: RuntimeContext, local: LocalWork) {
    this.#context = context;
    this.#local = local;
    this.#pollIn(0);
  }

  /** Resolves when no poll is in flight any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel();
    this.#cancelRegular();
    await this.#polling;
  }

  /** Notes that an execution is due in the store for which no slot was free here. */
  noteMoreDue(): void {
    this.#isMore = true;
    this.slotFreed();
  }

  /** Notes that a claimed execution was given back because it found no room in memory: the next polls claim fewer. */
  noteGivenBack(): void {
    this.#isMore = true;
    this.#maxClaims = Math.max(1, Math.floor(Math.min(this.#maxClaims, this.#local.slots.all) / 2));
  }

  /** Polls soon, because something may have become due in another process. */
  pollSoon(): void {
    if (!this.#local.slots.isRoomy("polled")) this.#isMore = true;
    else if (this.#polling) this.#isHinted = true;
    else this.#pollIn(Math.max(0, this.#hintsFromMs - this.#context.environment.monotonicMs()));
  }

  /** Polls at once if more executions are due and enough slots are free. */
  slotFreed(): void {
    if (this.#isMore && this.#local.slots.isRoomy("polled")) this.#pollIn(0);
  }

  /** Remembers when this execution is due again, and polls at that time. */
  expect(snapshot: Snapshot): void {
    const dueAt = nextDueAt(snapshot);
    if (dueAt === null || (this.#dueTimes.size >= maxDueTimes && !this.#forgetLaterThan(dueAt))) return;
    this.#dueTimes.set(snapshot.workflowId, dueAt);
    this.#pollAtDueTime();
  }

  /** Forgets the latest due time to make room for another one. False if none is later than that. */
  #forgetLaterThan(dueAt: EpochMs): boolean {
    let latest: readonly [string | null, EpochMs] = [null, dueAt];
    for (const one of this.#dueTimes) if (one[1] > latest[1]) latest = one;
    return latest[0] !== null && this.#dueTimes.delete(latest[0]);
  }

  /** Forgets the due time of an execution, because a session runs it. */
  forget(workflowId: string): void {
    this.#dueTimes.delete(workflowId);
  }

  #pollIn(delayMs: number): void {
    if (this.#closed) return;
    const { environment } = this.#context;
    const atMs = environment.monotonicMs() + delayMs;
    if (atMs >= this.#nextPollMs) return;
    this.#cancel();
    this.#nextPollMs = atMs;
    this.#cancel = environment.after(delayMs, () => {
      this.#nextPollMs = Number.POSITIVE_INFINITY;
      this.#pollNow();
    });
  }

  #pollNow(): void {
    this.#cancelRegular();
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = null;
      if (this.#closed) return;
      const { environment, pollMs } = this.#context;
      this.#cancelRegular = environment.after(pollMs, () => this.#pollNow(), { poll: true });
      this.#pollAtDueTime();
      if (!this.#isHinted) return;
      this.#isHinted = false;
      this.pollSoon();
    });
  }

  async #poll(): Promise<void> {
    const { environment, onProblem } = this.#context;
    const { slots, inbox, budget } = this.#local;
    const askedAtMs = environment.monotonicMs();
    const limit = Math.min(slots.room("polled"), this.#maxClaims);
    // executions that were claimed before still wait to be loaded
    if (budget.isFull) this.#isMore = true;
    if (limit <= 0 || budget.isFull) return;
    try {
      const { claims, isMore } = await claimSome(this.#context, limit);
      this.#isMore = isMore;
      this.#hintGapMs = claims.length > 0 ? minHintGapMs : Math.min(this.#hintGapMs * 2, maxHintGapMs);
      this.#hintsFromMs = environment.monotonicMs() + this.#hintGapMs;
      this.#maxClaims *= 2;
      for (const claim of claims) inbox.put({ claim, askedAtMs, slot: slots.take("polled") });
      this.slotFreed();
    } catch (error) {
      onProblem(null, error);
    }
  }

  #pollAtDueTime(): void {
    const now = this.#context.clock.estimate();
    let first = Number.POSITIVE_INFINITY;
    for (const [workflowId, dueAt] of this.#dueTimes) {
      // due for longer than `lateMs`: probably another process runs the execution; if not, a regular poll finds it
      if (dueAt < now - lateMs) this.#dueTimes.delete(workflowId);
      else first = Math.min(first, dueAt);
    }
    // one millisecond later: a timer may fire early, and the store's clock may be behind the estimate
    if (first < Number.POSITIVE_INFINITY) this.#pollIn(Math.max(first - now, 0) + 1);
  }
}

/** Returns the earliest timer, retry or deadline of all paths and scopes of an execution; null if there is none. */
function nextDueAt(snapshot: Snapshot): EpochMs | null {
  let earliest = Number.POSITIVE_INFINITY;
  for (const [key, paths] of openScopes(snapshot)) {
    const scope = key === "" ? snapshot : snapshot.childStates![key]!;
    earliest = Math.min(earliest, earliestTime(scope, paths) ?? earliest);
    for (const { nextRetryAt = earliest } of paths) earliest = Math.min(earliest, nextRetryAt);
  }
  return earliest === Number.POSITIVE_INFINITY ? null : earliest;
}
