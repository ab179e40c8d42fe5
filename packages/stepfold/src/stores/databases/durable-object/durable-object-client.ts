/** The part of the storage of a Durable Object with SQLite that the store uses: `ctx.storage`. */
export interface ObjectStorage {
  readonly sql: {
    exec(query: string, ...bindings: unknown[]): { toArray(): readonly Readonly<Record<string, unknown>>[]; readonly rowsWritten: number };
  };
  transactionSync<T>(work: () => T): T;
  setAlarm(at: number): Promise<void>;
}

/** The part of a runtime that the alarm uses. */
export interface Sweeper<Options = unknown> {
  sweep(options?: Options): Promise<{ readonly left: readonly unknown[]; readonly isMore: boolean }>;
}
