import { nextMacrotask } from "../../../environment/event-loop.ts";

interface Job<W, T> {
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

/**
 * Sends writes together that are issued while others are in flight. A lone one is sent at once.
 *
 * A group that fails as a whole is sent again write by write, so that one which the database refuses harms no other;
 * that is safe because a repeated commit is acknowledged.
 */
export function groupCommit<W, T>(options: GroupOptions<W, T>): GroupCommit<W, T> {
  const { send, idOf, isOutage, maxWrites, gather } = options;
  let waiting: Job<W, T>[] = [];
  let sending: Promise<void> | null = null;

  const settle = async (jobs: readonly Job<W, T>[]): Promise<void> => {
    let answers: readonly T[];
    try {
      answers = await send(jobs.map(({ write }) => write));
    } catch (cause) {
      if (jobs.length === 1 || isOutage(cause)) for (const job of jobs) job.reject(cause);
      else for (const job of jobs) await settle([job]);
      return;
    }
    for (const [index, job] of jobs.entries()) job.resolve(answers[index]!);
  };

  const next = (): Job<W, T>[] => {
    const group = new Map<string, Job<W, T>>();
    const later: Job<W, T>[] = [];
    for (const job of waiting) {
      const id = idOf(job.write);
      if (group.size < maxWrites && !group.has(id)) group.set(id, job);
      else later.push(job);
    }
    waiting = later;
    return [...group.values()].sort((a, b) => (idOf(a.write) < idOf(b.write) ? -1 : 1));
  };

  const work = async (): Promise<void> => {
    await (gather ? gather() : Promise.resolve());
    while (waiting.length > 0) {
      const group = next();
      await settle(group);
      // executions that go on at once add their next writes to those that wait: one group instead of two that take turns
      if (group.length > 1 || gather) await nextMacrotask();
    }
    sending = null;
  };

  return {
    add: (write) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ write, resolve, reject });
        sending ??= work();
      }),
    idle: async () => {
      while (sending) await sending;
    },
  };
}
