interface Read<T> {
  readonly id: string;
  resolve(value: T | null): void;
  reject(error: unknown): void;
}

/** Reads the values of several ids in one round trip. Ids without a value are missing in the answer. */
export type ReadMany<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;

/**
 * Returns a function that reads one execution. Reads that are issued in the same moment share one round trip, for example when a worker
 * loads all executions that it has claimed with one poll. If a round trip fails, each of its executions is read alone.
 *
 * @param maxTogether the most executions in one round trip
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
