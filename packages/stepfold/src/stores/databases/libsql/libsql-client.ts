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
  batch(statements: LibsqlStatement[], mode: "read" | "write"): Promise<LibsqlResult[]>;
  /** Used for files only, when the driver's own connection has got stuck. */
  reconnect?(): unknown;
}
