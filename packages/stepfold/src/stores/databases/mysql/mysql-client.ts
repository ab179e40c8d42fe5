import { requireMethods } from "../../../core/values/check-arguments.ts";
import { refuseOption } from "../../kit/refuse-option.ts";

/** The part of a `mysql2/promise` pool that the store uses, declared here so that Stepfold depends on no driver. */
export interface MysqlPool {
  getConnection(): Promise<MysqlConnection>;
}

/** The part of a connection of such a pool that the store uses. */
export interface MysqlConnection {
  /** Runs a prepared statement, so that values never become part of its text. */
  execute(statement: MysqlStatement): Promise<readonly unknown[]>;
  /** Runs a statement without values. */
  query(sql: string): Promise<readonly unknown[]>;
  release(): void;
  destroy(): void;
}

/** A statement and its values. The other fields fix how the driver returns rows, independent of the options of the pool. */
export interface MysqlStatement {
  readonly sql: string;
  readonly values: (string | Uint8Array | null)[];
  readonly rowsAsArray: true;
  readonly nestTables: false;
  readonly typeCast: (field: unknown, next: () => unknown) => unknown;
}

/** @throws StepfoldError `OPTION_INVALID` if `pool` is not a pool of `mysql2/promise` */
export function checkPool(pool: MysqlPool): void {
  requireMethods("pool", pool, 'a pool that was created with createPool of "mysql2/promise"', ["getConnection"]);
  const isOfCallbacks = typeof (pool as { readonly promise?: unknown }).promise === "function";
  refuseOption(
    "pool",
    isOfCallbacks,
    'is a pool with callbacks: pass pool.promise(), or create the pool with createPool of "mysql2/promise"',
  );
}
