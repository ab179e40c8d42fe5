/** Lets work on a key begin only when the work on it that was added before is done. */
export interface KeyedLock {
  /** Begins once what was added before for one of the keys is done, well or badly: at once if there is nothing. */
  run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T>;
  /** Resolves when no work is in flight. */
  idle(): Promise<void>;
}

/** A lock for one process: between processes the database decides. Work takes its place for all its keys at once, so none waits in a circle. */
export function keyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(keys, work) {
      const before: Promise<unknown>[] = [];
      for (const key of keys) {
        const working = last.get(key);
        if (working) before.push(working);
      }
      const mine = before.length > 0 ? Promise.allSettled(before).then(work) : work();
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
