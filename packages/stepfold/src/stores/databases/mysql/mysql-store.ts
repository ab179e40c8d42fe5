import { aCount, aFlag, aText, aTime, checkOptions } from "../../../core/values/check-arguments.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { refuseOption } from "../../kit/refuse-option.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import { asPool, type MysqlOwnConnection, type MysqlPool, OwnTransaction } from "./mysql-client.ts";
import { mysqlError } from "./mysql-error.ts";
import { MysqlTable } from "./mysql-table.ts";

/** How a MySQL store behaves. */
export interface MysqlStoreOptions extends RetentionOptions {
  /** The prefix of the names of the tables: at most 44 letters, digits and underscores. Default `stepfold_`. */
  readonly prefix?: string | undefined;
  /** Whether the first call creates the tables if they are missing. Default false: the deployment calls `migrateMysql`. */
  readonly migrate?: boolean | undefined;
  /**
   * The most bytes of JSON that the head, one event or one child may have. Default 6 MiB. The server's `max_allowed_packet` must have room
   * for two such values.
   */
  readonly maxValueBytes?: number | undefined;
}

/**
 * A store in MariaDB (10.6 or later) or MySQL (8.0.21 or later), shared by any number of processes.
 *
 * An acknowledged commit is as durable as the server makes it: with `innodb_flush_log_at_trx_commit = 1` (the default) it
 * survives a power loss. Commits that are issued together share one transaction, but each is accepted or refused on its own. The
 * server's clock decides about leases and due times. The store works with every `sql_mode`, time zone, charset and isolation level.
 *
 * The tables must exist: call `migrateMysql(pool)` when you deploy, or pass `migrate: true`. You close the pool yourself.
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
 * @param pool a pool of `mysql2/promise`; a call uses at most one connection at a time, so a pool of one connection is enough. Or a
 * connection on which you have begun a transaction: then all that the store does is a part of it (see `docs/guides/own-transaction.md`)
 * @throws StepfoldError `OPTION_INVALID` if `pool` is not a pool of `mysql2/promise`, or `prefix` is not a valid part of a name
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function mysqlStore(pool: MysqlPool | MysqlOwnConnection, options: MysqlStoreOptions = {}): SnapshotStore {
  checkOptions("mysqlStore", options, { prefix: aText, migrate: aFlag, maxValueBytes: aCount, idempotencyRetentionMs: aTime });
  const { prefix = "stepfold_", migrate = false, maxValueBytes = 6 * 2 ** 20, idempotencyRetentionMs } = options;
  const connections = asPool(pool);
  refuseOption(
    "migrate",
    migrate && connections instanceof OwnTransaction,
    "ends the transaction: call migrateMysql(pool) when you deploy",
  );
  const table = new MysqlTable({ pool: connections, prefix, migrate, maxValueBytes });
  return storeOver(table, { idempotencyRetentionMs, errorOf: mysqlError });
}
