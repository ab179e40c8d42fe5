import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { Deadlines, nextMacrotask, onNextMacrotask, systemEnvironment } from "../../../environment/system-environment.ts";
import { begun } from "../begun.ts";
import { answerOrEnd } from "../no-answer.ts";

interface Job<W, T> {
  readonly id: string;
  readonly write: W;
  resolve(value: T | Promise<T>): void;
  reject(error: unknown): void;
}

/** Writes that share a round trip. */
export interface GroupCommit<W, T> {
  /** Resolves once the write is durable. Those of one execution are made in the order in which they were added. */
  add(write: W): Promise<T>;
  /** Resolves when everything that was added is answered. */
  idle(): Promise<void>;
}

/** How writes are grouped. */
export interface GroupOptions<W, A, T> {
  /** Of the store, for people. */
  readonly name: string;
  /** Makes writes in one transaction, and answers each, in their order. */
  readonly send: (writes: readonly W[]) => Promise<readonly A[]>;
  /** What `add` gives for an answer. What it throws is what `add` rejects with. */
  readonly resultOf: (answer: A, write: W) => T | Promise<T>;
  /** No two writes of one id are in one group: their order matters. */
  readonly idOf: (write: W) => string;
  /** True if the database is away: no single write would fare better than the group. */
  readonly isOutage: (cause: unknown) => boolean;
  readonly maxWrites: number;
  /** True: what is issued in one turn of the event loop goes together. Default: only what is issued in the same moment. */
  readonly perTurn?: boolean;
}

/** How long further writes wait for the group before them: one locked row, or one silent connection, must not hold up all others. */
const patienceMs = 100;
/** Groups that are under way at once. */
const maxGroups = 8;

/**
 * Sends writes together that are issued while others are in flight. A lone one is sent at once.
 *
 * A group that fails as a whole is sent again write by write, so that one which the database refuses harms no other;
 * that is safe because a repeated commit is acknowledged.
 */
export function groupCommit<W, A, T>(options: GroupOptions<W, A, T>): GroupCommit<W, T> {
  return new Groups(options);
}

class Groups<W, A, T> implements GroupCommit<W, T> {
  readonly #options: GroupOptions<W, A, T>;
  /** Its own: on the edge a timer ends with the request that set it, and a store lives no longer. */
  readonly #deadlines = new Deadlines(systemEnvironment);
  #waiting: Job<W, T>[] = [];
  #isSending = false;
  #inFlight = 0;
  readonly #idsInFlight = new Set<string>();
  /** Told when a group is answered, and when no more are sent. */
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
      // executions that go on at once add their next writes to those that wait: one group instead of two that take turns
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

  /** The next group, in order of id, which counts as in flight from now on. What is of one id with something in flight has to wait. */
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

  /** Sends a group. Resolves when it is answered, or takes so long that others need not wait for it. */
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

  /** Answers jobs, then calls `done`. */
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

  /** Answers jobs one after the other, then calls `done`. */
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
