/** A statement with its parameters by position. */
export interface LibsqlStatement {
  sql: string;
  args: (string | number | Uint8Array | null)[];
}

/** A row by the names of its columns. Integers come as the client was told: number, bigint or string. */
export interface LibsqlRow {
  readonly [column: string]: unknown;
}

/** What a statement gave. */
export interface LibsqlResult {
  readonly rows: readonly LibsqlRow[];
}

/** What is used of a client of `@libsql/client`, so that it is no dependency. */
export interface LibsqlClient {
  /** `"file"` for a file or memory, else the protocol to a server. */
  readonly protocol: string;
  execute(statement: LibsqlStatement): Promise<LibsqlResult>;
  /** All in one transaction and one round trip. */
  batch(statements: LibsqlStatement[], mode: "write"): Promise<LibsqlResult[]>;
  /** Used for files only, when the driver's own connection has got stuck. */
  reconnect?(): unknown;
}

/** A statement that waits for its parameters. */
export function statement(sql: string): (...args: (string | number | null)[]) => LibsqlStatement {
  return (...args) => ({ sql, args: args.map(bindable) });
}

/** Any number as one that a statement takes. */
function bindable(value: string | number | null): string | number | null {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  return value > 0 ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
}
