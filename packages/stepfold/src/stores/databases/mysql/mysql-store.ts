import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import { checkPool, type MysqlPool } from "./mysql-client.ts";
import { mysqlError } from "./mysql-error.ts";
import { MysqlTable } from "./mysql-table.ts";

/** How a MySQL store behaves. */
export interface MysqlStoreOptions extends RetentionOptions {
  /** What the names of its tables begin with: letters, digits and underscores, at most 44. Default `stepfold_`. */
  readonly prefix?: string;
  /** Makes the tables, or brings them to today's layout, before the first call. Default false: `migrateMysql` does it. */
  readonly migrate?: boolean;
  /** The most bytes of JSON that the head, one event or one child may have. Default 6 MiB, which `max_allowed_packet` must hold twice. */
  readonly maxValueBytes?: number;
}

/**
 * A store in MariaDB (10.6 or later) or MySQL (8.0.21 or later), shared by any number of processes.
 *
 * An acknowledged commit is as durable as the server makes it: with `innodb_flush_log_at_trx_commit = 1` (the default) it
 * survives a power loss. Commits issued together share one transaction, each with a verdict of its own. The server's clock judges
 * leases and due times. Works with every `sql_mode`, time zone, charset and isolation level of the pool.
 *
 * The tables must be there: call `migrateMysql(pool)` when you deploy, or pass `migrate: true`. The pool stays yours to close.
 *
 * ```ts
 * import { createPool } from "mysql2/promise";
 * import { mysqlStore } from "stepfold/stores/mysql";
 *
 * const pool = createPool("mysql://root@127.0.0.1:3306/test");
 * const store = mysqlStore(pool, { migrate: true });
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * await pool.end();
 * ```
 *
 * @param pool of `mysql2/promise`; a call takes at most one connection at a time, so a pool of one is enough
 * @throws StepfoldError `OPTION_INVALID` for another kind of pool, or a prefix that is no part of a name
 */
export function mysqlStore(pool: MysqlPool, options: MysqlStoreOptions = {}): SnapshotStore {
  checkPool(pool);
  const { prefix = "stepfold_", migrate = false, maxValueBytes = 6 * 2 ** 20, idempotencyRetentionMs } = options;
  const table = new MysqlTable({ pool, prefix, migrate, maxValueBytes });
  return storeOver(table, { idempotencyRetentionMs, errorOf: mysqlError });
}
