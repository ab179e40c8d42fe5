/** A lock for each key: work on a key begins when all work added before for this key is done. */
export interface KeyedLock {
  /** Begins work once all earlier work for its keys is done, also if that failed; at once if there is none. */
  run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
  /** Resolves when no work is in flight. */
  idle(): Promise<void>;
}

/**
 * Makes a lock for this process; between processes the database decides. Work takes its place in the queues of all its keys at once, so
 * there is no deadlock.
 */
export function keyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(keys, work) {
      const isFree = keys.every((key) => !last.has(key));
      const mine = isFree ? work() : Promise.allSettled(keys.map((key) => last.get(key))).then(work);
      for (const key of keys) last.set(key, mine);
      const forget = (): void => {
        for (const key of keys) if (last.get(key) === mine) last.delete(key);
      };
      mine.then(forget, forget);
      return mine;
    },
    async idle() {
      while (last.size > 0) await Promise.allSettled(last.values());
    },
  };
}
