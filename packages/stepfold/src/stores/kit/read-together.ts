interface Read<T> {
  readonly id: string;
  resolve(value: T | null): void;
  reject(error: unknown): void;
}

/** Reads what belongs to ids, those that are there. */
export type ReadMany<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;

/**
 * Reads executions one by one for its callers, and those that are asked for in the same moment in one round trip: a worker loads all
 * that it has claimed with one poll, and looks at once at all that is waited for. If a round trip fails, each of its executions is asked for alone.
 *
 * @param maxTogether in one round trip
 */
export function readTogether<T>(readMany: ReadMany<T>, maxTogether: number): (id: string) => Promise<T | null> {
  let waiting: Read<T>[] = [];
  const alone = ({ id, resolve, reject }: Read<T>): void => {
    readMany([id]).then((found) => resolve(found.get(id) ?? null), reject);
  };
  const send = (reads: readonly Read<T>[]): void => {
    if (reads.length === 1) {
      alone(reads[0]!);
      return;
    }
    const found = readMany([...new Set(reads.map(({ id }) => id))]);
    found.then(
      (values) => {
        for (const { id, resolve } of reads) resolve(values.get(id) ?? null);
      },
      () => reads.forEach(alone),
    );
  };
  const sendAll = (): void => {
    const reads = waiting;
    waiting = [];
    for (let first = 0; first < reads.length; first += maxTogether) send(reads.slice(first, first + maxTogether));
  };
  return (id) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ id, resolve, reject }) === 1) queueMicrotask(sendAll);
    });
}
