import { StepfoldError } from "../../../core/errors/stepfold-error.ts";

/** What we use of a `mysql2/promise` pool, so that the driver is no dependency. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/** What we use of one of its connections. */
export interface MysqlConnection {
  /** Runs a prepared statement: values never become part of its text. */
  execute(statement: MysqlStatement): Promise<readonly unknown[]>;
  /** Runs a constant text. */
  query(sql: string): Promise<readonly unknown[]>;
  release(): void;
  destroy(): void;
}

/** A statement, and how its rows are to be read whatever the options of the pool are. */
export interface MysqlStatement {
  readonly sql: string;
  readonly values: (string | Uint8Array | null)[];
  readonly rowsAsArray: true;
  readonly nestTables: false;
  readonly typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** @throws StepfoldError `OPTION_INVALID` for what is no `mysql2/promise` pool */
export function checkPool(pool: MysqlPool): void {
  const { getConnection, promise } = (pool ?? {}) as { getConnection?: unknown; promise?: unknown };
  const refuse = (reason: string): never => {
    throw new StepfoldError("OPTION_INVALID", { option: "pool", reason });
  };
  if (typeof promise === "function")
    refuse('is a pool with callbacks: hand in pool.promise(), or make it with createPool of "mysql2/promise"');
  if (typeof getConnection !== "function") refuse('must be a pool, made with createPool of "mysql2/promise"');
}
