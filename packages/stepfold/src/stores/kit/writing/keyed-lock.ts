/** Lets work on one key begin only when the work on it that was added before is done. */
export interface KeyedLock {
  /** Begins once what was added before for the key is done, well or badly: at once if there is nothing. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when no work is in flight. */
  idle(): Promise<void>;
}

/** A lock for one process: between processes the database decides. */
export function keyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>();
  return {
    async run(key, work) {
      const before = last.get(key);
      const mine = before ? before.then(work, work) : work();
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
    async idle() {
      while (last.size > 0) await Promise.allSettled(last.values());
    },
  };
}
