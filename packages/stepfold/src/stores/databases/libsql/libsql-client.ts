/** A statement with its parameters by position. */
export interface LibsqlStatement {
  sql: string;
  args: (string | number | Uint8Array | null)[];
}

/** A row by the names of its columns. Integers are numbers, bigints or strings, as the client is configured. */
export interface LibsqlRow {
  readonly [column: string]: unknown;
}

/** The result of a statement. */
export interface LibsqlResult {
  readonly rows: readonly LibsqlRow[];
}

/** The part of a client of `@libsql/client` that the store uses, declared here so that Stepfold depends on no driver. */
export interface LibsqlClient {
  /** `"file"` for a file or memory, else the protocol to a server. */
  readonly protocol: string;
  execute(statement: LibsqlStatement): Promise<LibsqlResult>;
  /** Runs all statements in one transaction and one round trip. */
  batch(statements: LibsqlStatement[], mode: "read" | "write"): Promise<LibsqlResult[]>;
  /** Opens a new connection. Used only for files, if the driver's connection is stuck. */
  reconnect?(): unknown;
}
