/** Makes writes of one execution one after the other, in the order in which they were issued; those of others go beside them. */
export interface InOrder {
  add<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Work that waits for nothing. */
  beside<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when everything that was added is over. */
  idle(): Promise<void>;
}

/** An order for a handle. */
export function inOrder(): InOrder {
  const last = new Map<unknown, Promise<void>>();
  const add = <T>(id: unknown, work: () => Promise<T>): Promise<T> => {
    const before = last.get(id);
    const result = before ? before.then(work) : work();
    const over = result.then(
      () => undefined,
      () => undefined,
    );
    last.set(id, over);
    void over.then(() => {
      if (last.get(id) === over) last.delete(id);
    });
    return result;
  };
  return {
    add,
    beside: (work) => add({}, work),
    async idle() {
      while (last.size > 0) await Promise.all(last.values());
    },
  };
}
