import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { Deadlines, nextMacrotask, systemEnvironment } from "../../../environment/system-environment.ts";
import { answerOrEnd } from "../no-answer.ts";

interface Job<W, T> {
  readonly id: string;
  readonly write: W;
  resolve(value: T): void;
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
export interface GroupOptions<W, T> {
  /** Of the store, for people. */
  readonly name: string;
  /** Makes writes in one transaction, and answers each, in their order. */
  readonly send: (writes: readonly W[]) => Promise<readonly T[]>;
  /** No two writes of one id are in one group: their order matters. */
  readonly idOf: (write: W) => string;
  /** True if the database is away: no single write would fare better than the group. */
  readonly isOutage: (cause: unknown) => boolean;
  readonly maxWrites: number;
  /** Resolves when the group is to be sent. Default: what is issued in the same moment goes together. */
  readonly gather?: () => Promise<void>;
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
export function groupCommit<W, T>(options: GroupOptions<W, T>): GroupCommit<W, T> {
  return new Groups(options);
}

class Groups<W, T> implements GroupCommit<W, T> {
  readonly #options: GroupOptions<W, T>;
  /** Its own: on the edge a timer ends with the request that set it, and a store lives no longer. */
  readonly #deadlines = new Deadlines(systemEnvironment);
  #waiting: Job<W, T>[] = [];
  #sending: Promise<void> | null = null;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #idsInFlight = new Set<string>();

  constructor(options: GroupOptions<W, T>) {
    this.#options = options;
  }

  add(write: W): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ id: this.#options.idOf(write), write, resolve, reject });
      this.#sending ??= this.#sendAll();
    });
  }

  async idle(): Promise<void> {
    while (this.#sending || this.#inFlight.size > 0) await Promise.all([this.#sending, ...this.#inFlight]);
  }

  async #sendAll(): Promise<void> {
    const { gather } = this.#options;
    await (gather ? gather() : Promise.resolve());
    while (this.#waiting.length > 0) {
      const group = this.#inFlight.size < maxGroups ? this.#next() : [];
      if (group.length === 0) await Promise.race(this.#inFlight);
      else await this.#send(group);
      // executions that go on at once add their next writes to those that wait: one group instead of two that take turns
      if (group.length > 1 || gather) await nextMacrotask();
    }
    this.#sending = null;
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
  async #send(group: readonly Job<W, T>[]): Promise<void> {
    const settled = this.#settle(group).finally(() => {
      for (const { id } of group) this.#idsInFlight.delete(id);
      this.#inFlight.delete(settled);
    });
    this.#inFlight.add(settled);
    let cancel = (): void => undefined;
    const patience = new Promise<void>((resolve) => {
      cancel = this.#deadlines.add(patienceMs, resolve);
    });
    await Promise.race([settled, patience]);
    cancel();
  }

  async #settle(jobs: readonly Job<W, T>[]): Promise<void> {
    const { name, send, isOutage } = this.#options;
    let answers: readonly T[];
    try {
      answers = await answerOrEnd(name, send(jobs.map(({ write }) => write)), undefined, this.#deadlines);
    } catch (cause) {
      if (jobs.length === 1 || StepfoldError.is(cause, "STORE_UNAVAILABLE") || isOutage(cause)) for (const job of jobs) job.reject(cause);
      else for (const job of jobs) await this.#settle([job]);
      return;
    }
    jobs.forEach((job, index) => {
      job.resolve(answers[index]!);
    });
  }
}
