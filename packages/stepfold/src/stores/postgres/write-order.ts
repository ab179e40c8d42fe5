/** Keeps the writes of one execution in the order in which they were issued, though a pool sends them over many connections. */
export interface WriteOrder {
  /** Begins once the execution's writes that were issued before are done, well or badly. */
  inOrder<T>(workflowId: string, write: () => Promise<T>): Promise<T>;
  /** Resolves when no write is under way. */
  settled(): Promise<void>;
}

/** For one store. */
export function writeOrder(): WriteOrder {
  const last = new Map<string, Promise<unknown>>();
  return {
    async inOrder(workflowId, write) {
      const before = last.get(workflowId);
      const mine = before ? before.then(write, write) : write();
      last.set(workflowId, mine);
      try {
        return await mine;
      } finally {
        if (last.get(workflowId) === mine) last.delete(workflowId);
      }
    },
    async settled() {
      while (last.size > 0) await Promise.allSettled(last.values());
    },
  };
}
