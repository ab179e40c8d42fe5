import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { Deadlines, nextMacrotask, onNextMacrotask, systemEnvironment } from "../../../environment/system-environment.ts";
import { begun } from "../begun.ts";
import { answerOrEnd } from "../no-answer.ts";

/** A write that waits for its answer. */
interface Job<W, T> {
  readonly id: string;
  readonly write: W;
  resolve(value: T | Promise<T>): void;
  reject(error: unknown): void;
}

/** Sends writes in groups that share a round trip. */
export interface GroupCommit<W, T> {
  /** Resolves with the result once the write is answered. Writes of one execution are made in the order in which they were added. */
  add(write: W): Promise<T>;
  /** Resolves when everything that was added is answered. */
  idle(): Promise<void>;
}

/** Options of a group commit. */
export interface GroupOptions<W, A, T> {
  /** The name of the store, for error messages. */
  readonly name: string;
  /** Makes writes in one round trip, and returns an answer for each, in their order. */
  readonly send: (writes: readonly W[]) => Promise<readonly A[]>;
  /** Turns an answer into the result of `add`. If it throws, `add` rejects with the same error. */
  readonly resultOf: (answer: A, write: W) => T | Promise<T>;
  /** Returns the id of a write. One group never has two writes with the same id, because their order matters. */
  readonly idOf: (write: W) => string;
  /** True if the database was unavailable, so that sending the writes of the failed group one by one would fail too. */
  readonly isOutage: (cause: unknown) => boolean;
  /** The most writes in one group. */
  readonly maxWrites: number;
  /** True: writes issued in one turn of the event loop form a group. Default: only writes issued before the next microtask. */
  readonly perTurn?: boolean;
}

/** How long further writes wait for the group before them, so that a locked row or a silent connection does not delay all others. */
const patienceMs = 100;
/** The most groups in flight at the same time. */
const maxGroups = 8;

/**
 * Sends writes in groups. While a group is in flight, at most for `patienceMs`, new writes are collected for the next group; if none is in
 * flight, a write is sent at once.
 *
 * A group that fails as a whole is sent again write by write, so that a write that the database refuses does not make others fail; except
 * if the database is unavailable. This is safe because a repeated commit is acknowledged.
 */
export function groupCommit<W, A, T>(options: GroupOptions<W, A, T>): GroupCommit<W, T> {
  return new Groups(options);
}

class Groups<W, A, T> implements GroupCommit<W, T> {
  readonly #options: GroupOptions<W, A, T>;
  /** Timers of this store, not shared: on edge platforms a timer ends with the request that set it, and so does the store. */
  readonly #deadlines = new Deadlines(systemEnvironment);
  #waiting: Job<W, T>[] = [];
  #isSending = false;
  #inFlight = 0;
  readonly #idsInFlight = new Set<string>();
  /** Called once when a group is answered, or when `#sendAll` has nothing more to send. */
  #watchers: (() => void)[] = [];

  constructor(options: GroupOptions<W, A, T>) {
    this.#options = options;
  }

  add(write: W): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ id: this.#options.idOf(write), write, resolve, reject });
      if (this.#isSending) return;
      this.#isSending = true;
      (this.#options.perTurn ? onNextMacrotask : queueMicrotask)(() => void this.#sendAll());
    });
  }

  async idle(): Promise<void> {
    while (this.#isSending || this.#inFlight > 0) await this.#change();
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#inFlight < maxGroups ? this.#next() : [];
      await (group.length > 0 ? this.#send(group) : this.#change());
      // executions that continue at once add their next writes to the waiting ones: one large group instead of two alternating ones
      if (group.length > 1) await nextMacrotask();
    }
    this.#isSending = false;
    this.#tell();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#watchers.push(resolve));
  }

  #tell(): void {
    for (const tell of this.#watchers.splice(0)) tell();
  }

  /** Takes the next group from the waiting writes, sorted by id, and marks its ids as in flight. A write whose id is in flight stays. */
  #next(): Job<W, T>[] {
    const { maxWrites } = this.#options;
    const group: Job<W, T>[] = [];
    const later: Job<W, T>[] = [];
    for (const job of this.#waiting) {
      if (group.length === maxWrites || this.#idsInFlight.has(job.id)) later.push(job);
      else {
        this.#idsInFlight.add(job.id);
        group.push(job);
      }
    }
    this.#waiting = later;
    return group.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Sends a group. Resolves when it is answered, or after `patienceMs`. */
  #send(group: readonly Job<W, T>[]): Promise<void> {
    return new Promise((goOn) => {
      const patience = this.#deadlines.add(patienceMs, goOn);
      this.#inFlight++;
      this.#settle(group, () => {
        patience.cancel();
        for (const { id } of group) this.#idsInFlight.delete(id);
        this.#inFlight--;
        goOn();
        this.#tell();
      });
    });
  }

  /** Sends jobs together and answers them, then calls `done`. */
  #settle(jobs: readonly Job<W, T>[], done: () => void): void {
    const { name, send, isOutage } = this.#options;
    const sent = begun(() => send(jobs.map(({ write }) => write)));
    answerOrEnd(name, sent, undefined, this.#deadlines).then(
      (answers) => {
        for (let i = 0; i < jobs.length; i++) this.#answer(jobs[i]!, answers[i]!);
        done();
      },
      (cause: unknown) => {
        const isLast = jobs.length === 1 || StepfoldError.is(cause, "STORE_UNAVAILABLE") || isOutage(cause);
        if (!isLast) return this.#settleEach(jobs, done);
        for (const job of jobs) job.reject(cause);
        done();
      },
    );
  }

  /** Sends jobs one after the other, then calls `done`. */
  #settleEach([job, ...others]: readonly Job<W, T>[], done: () => void): void {
    if (job) this.#settle([job], () => this.#settleEach(others, done));
    else done();
  }

  #answer({ write, resolve, reject }: Job<W, T>, answer: A): void {
    try {
      resolve(this.#options.resultOf(answer, write));
    } catch (error) {
      reject(error);
    }
  }
}
