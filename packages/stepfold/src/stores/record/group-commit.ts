/** What became of one write. */
export type Verdict<T> = { readonly value: T } | { readonly refused: unknown };

interface Job<W, T> {
  readonly write: W;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Writes that share a round trip. */
export interface GroupCommit<W, T> {
  /** Resolves once the write is durable. Those of one execution are made in the order in which they were added. */
  add(write: W): Promise<T>;
  /** Resolves when everything that was added has its verdict. */
  idle(): Promise<void>;
}

/** How writes are grouped. */
export interface GroupOptions<W, T> {
  /** Makes writes in one transaction, each with a verdict of its own, in their order. */
  readonly send: (writes: readonly W[]) => Promise<readonly Verdict<T>[]>;
  /** No two writes of one id are in one group: their order matters. */
  readonly idOf: (write: W) => string;
  /** The database is away: no single write would fare better than the group. */
  readonly isOutage: (cause: unknown) => boolean;
  /** Default 100. */
  readonly mostTogether?: number;
}

/** What follows from what has just resolved has run. */
function turnOfEvents(): Promise<void> {
  const { setImmediate: soon = setTimeout } = globalThis;
  return new Promise((resolve) => {
    soon(resolve);
  });
}

/**
 * Sends writes together that are issued while others are under way. A lone one is sent at once.
 *
 * A group that fails as a whole is sent again write by write, so that one which the database refuses harms no other;
 * that is safe because a repeated commit is acknowledged.
 */
export function groupCommit<W, T>({ send, idOf, isOutage, mostTogether = 100 }: GroupOptions<W, T>): GroupCommit<W, T> {
  let waiting: Job<W, T>[] = [];
  let sending: Promise<void> | null = null;

  const settle = async (jobs: readonly Job<W, T>[]): Promise<void> => {
    let verdicts: readonly Verdict<T>[];
    try {
      verdicts = await send(jobs.map(({ write }) => write));
    } catch (cause) {
      if (jobs.length === 1 || isOutage(cause)) for (const job of jobs) job.reject(cause);
      else for (const job of jobs) await settle([job]);
      return;
    }
    jobs.forEach((job, index) => {
      const verdict = verdicts[index]!;
      if ("refused" in verdict) job.reject(verdict.refused);
      else job.resolve(verdict.value);
    });
  };

  const next = (): Job<W, T>[] => {
    const group = new Map<string, Job<W, T>>();
    const later: Job<W, T>[] = [];
    for (const job of waiting) {
      const id = idOf(job.write);
      if (group.size < mostTogether && !group.has(id)) group.set(id, job);
      else later.push(job);
    }
    waiting = later;
    return [...group.values()].sort((a, b) => (idOf(a.write) < idOf(b.write) ? -1 : 1));
  };

  const work = async (): Promise<void> => {
    // what is issued in the same moment goes together
    await Promise.resolve();
    while (waiting.length > 0) {
      const group = next();
      await settle(group);
      // executions that go on at once add their next writes to those that wait: one group instead of two that take turns
      if (group.length > 1) await turnOfEvents();
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
