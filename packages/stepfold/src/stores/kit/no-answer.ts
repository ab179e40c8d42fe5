import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { awaitAnswer } from "../../environment/await-answer.ts";
import { Deadlines, systemEnvironment } from "../../environment/system-environment.ts";

/** The longest that a database is waited for. */
export const maxAnswerMs = 10_000;
/** Of a process. Where timers belong to the request that set them, as on the edge, each store has its own. */
const deadlines = new Deadlines(systemEnvironment);

/** A database that did not answer in time: its connection may be dead, and nobody has said so. */
export class NoAnswer extends StepfoldError<"STORE_UNAVAILABLE"> {
  constructor(store: string) {
    super("STORE_UNAVAILABLE", { store, reason: `there was no answer for ${maxAnswerMs} ms` });
  }
}

/** What the database answers, or `NoAnswer` after 10 s. An answer that comes later is told to `late`. */
export function answerOrEnd<T>(store: string, work: Promise<T>, late?: (answer: T) => void, by: Deadlines = deadlines): Promise<T> {
  return awaitAnswer(work, { deadlines: by, timeoutMs: maxAnswerMs, missing: () => new NoAnswer(store), late });
}

/** Resolves when `work` is done, or after `timeoutMs` without its end. */
export function doneOrGivenUp(work: Promise<void>, timeoutMs: number, by: Deadlines = deadlines): Promise<void> {
  return new Promise((resolve, reject) => {
    const deadline = by.add(timeoutMs, resolve);
    work.finally(() => deadline.cancel()).then(resolve, reject);
  });
}

/** Of a lease: a runtime waits half of it for an answer, and the database must have given up before. */
const shareOfLease = 0.4;
/** Below it, a moment of a busy server would count as a lock: leases below 2.5 seconds are too short for their runtime to be the last. */
const minLockMs = 1_000;
/** Of a limit: how long a transaction whose process stands still keeps its locks, so that who waits for them gets them. */
const pauseShare = 7 / 8;

/**
 * How long a database may wait for rows that others have locked. It must not go on with a write that its sender has given up, so it
 * waits no longer than a share of the shortest lease that it was told of.
 */
export class LockLimit {
  #ms: number;

  /** @param mostMs however long leases are */
  constructor(mostMs: number) {
    this.#ms = mostMs;
  }

  get ms(): number {
    return this.#ms;
  }

  /** For a server that counts whole seconds. */
  get seconds(): number {
    return Math.floor(this.#ms / 1000);
  }

  /** How long a server waits for the next statement of a transaction. */
  get pauseMs(): number {
    return Math.ceil(this.#ms * pauseShare);
  }

  /** Takes note of a lease. */
  learn(leaseMs: number): void {
    this.#ms = Math.min(this.#ms, Math.max(minLockMs, Math.floor(leaseMs * shareOfLease)));
  }
}

/** By client: stores that share one share its connections. */
const lockLimits = new WeakMap<object, LockLimit>();

/** The limit for all that is done over a client. */
export function lockLimitOf(client: object, mostMs: number): LockLimit {
  const known = lockLimits.get(client) ?? new LockLimit(mostMs);
  lockLimits.set(client, known);
  return known;
}

/** Stands in a statement for a lock limit, in the unit of the server. */
export const lockLimitMark = "/* lock limit */";

/** The statement with the limit that holds now. */
export function withLockLimit(text: string, limit: number): string {
  return text.replaceAll(lockLimitMark, String(limit));
}
