/** Work under way. */
export interface WorkInOrder {
  /** Runs `work` after everything that was added before it for the same id; for null at once. */
  add<T>(id: string | null, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

/** Keeps the order of what is written to one execution without waiting for one another. */
export function workInOrder(): WorkInOrder {
  const lastOf = new Map<string, Promise<unknown>>();
  const underWay = new Set<Promise<unknown>>();
  return {
    add(id, work) {
      const before = id === null ? undefined : lastOf.get(id);
      const result = before ? before.then(work, work) : work();
      if (id !== null) lastOf.set(id, result);
      underWay.add(result);
      const done = (): void => {
        underWay.delete(result);
        if (id !== null && lastOf.get(id) === result) lastOf.delete(id);
      };
      result.then(done, done);
      return result;
    },
    async idle() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}
