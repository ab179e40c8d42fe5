/** What is used of the storage of a Durable Object with SQLite: `ctx.storage`. */
export interface ObjectStorage {
  readonly sql: {
    exec(query: string, ...bindings: unknown[]): { toArray(): readonly Readonly<Record<string, unknown>>[]; readonly rowsWritten: number };
  };
  transactionSync<T>(work: () => T): T;
  setAlarm(at: number): Promise<void>;
}

/** What is used of a runtime on the store. */
export interface Sweeper<Options = unknown> {
  sweep(options?: Options): Promise<{ readonly left: readonly unknown[]; readonly isMore: boolean }>;
}
