/** The result of a statement. */
export interface D1Rows {
  readonly results: readonly Readonly<Record<string, unknown>>[];
}

/** A statement of D1, with its values or without. */
export interface D1Statement {
  bind(...values: unknown[]): D1Statement;
  all(): Promise<D1Rows>;
}

/** The part of a D1 database that the store uses. The database is a binding of a Cloudflare worker, such as `env.DB`. */
export interface D1Client {
  prepare(sql: string): D1Statement;
  /** Runs all statements in one transaction and one round trip. */
  batch(statements: D1Statement[]): Promise<readonly D1Rows[]>;
}
