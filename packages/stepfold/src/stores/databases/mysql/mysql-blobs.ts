import { aFlag, aText, checkOptions } from "../../../core/values/check-arguments.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import { sqlBlobs } from "../../kit/blobs/sql-blobs.ts";
import type { MysqlPool } from "./mysql-client.ts";
import { mysqlError } from "./mysql-error.ts";
import { OpenTables } from "./mysql-schema.ts";
import { clock } from "./mysql-statement.ts";
import type { MysqlStoreOptions } from "./mysql-store.ts";

/** Options of blobs in MySQL or MariaDB: the prefix of the tables, and whether the first call creates them. */
export type MysqlBlobsOptions = Pick<MysqlStoreOptions, "prefix" | "migrate">;

/**
 * Blobs in the table `stepfold_blobs` of MariaDB or MySQL, next to the tables of `mysqlStore`, so that a backup of the database
 * includes the blobs. You provide the pool, as for the store; `migrateMysql` also creates this table.
 *
 * ```ts
 * import { blobbedStore } from "stepfold/stores/blobs";
 * import { mysqlBlobs, mysqlStore } from "stepfold/stores/mysql";
 *
 * const store = blobbedStore(mysqlStore(pool), mysqlBlobs(pool));
 * ```
 *
 * A blob is sent in one statement. A blob that is larger than the server's `max_allowed_packet` (by default 16 MiB in MariaDB, 64 MiB
 * in MySQL) minus 128 KiB is refused with `LIMIT_EXCEEDED`, which tells both sizes. Apart from that, calls reject with the same errors
 * as those of `mysqlStore`.
 *
 * @throws StepfoldError `OPTION_INVALID` if `pool` is not a pool of `mysql2/promise`, or `prefix` is not a valid part of a name
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function mysqlBlobs(pool: MysqlPool, options: MysqlBlobsOptions = {}): BlobStore {
  checkOptions("mysqlBlobs", options, { prefix: aText, migrate: aFlag });
  const { prefix = "stepfold_", migrate = false } = options;
  // 0: the server need not accept a certain size, because `open.ready` tells how large a blob may be
  const open = new OpenTables({ pool, prefix, migrate, maxValueBytes: 0 });
  const { blobs } = open.tables;
  return sqlBlobs<Uint8Array>({
    name: "mysql",
    maxBytes: open.ready,
    statements: {
      put: `INSERT INTO ${blobs} (name, bytes, written_at) VALUES (?, ?, ${clock})
        ON DUPLICATE KEY UPDATE bytes = VALUES(bytes), written_at = VALUES(written_at)`,
      get: `SELECT bytes FROM ${blobs} WHERE name = ?`,
      deleteBetween: `DELETE FROM ${blobs} WHERE name >= ? AND name < ?`,
      page: `SELECT name AS \`key\`, written_at FROM ${blobs} WHERE name > ? ORDER BY name LIMIT ?`,
    },
    ask: (sql, values) => open.send("read", sql, values),
    change: (sql, values) => open.send("write", sql, values),
    toValue: (bytes) => bytes,
    // a copy, because the driver's bytes are a view into a larger buffer, which the view would keep in memory
    toBytes: (column) => new Uint8Array(column as Uint8Array),
    errorOf: mysqlError,
  });
}
