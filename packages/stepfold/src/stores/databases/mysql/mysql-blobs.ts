import type { BlobStore } from "../../../ports/blob-store.ts";
import { sqlBlobs } from "../../kit/blobs/sql-blobs.ts";
import { checkPool, type MysqlPool } from "./mysql-client.ts";
import { mysqlError } from "./mysql-error.ts";
import { OpenTables } from "./mysql-schema.ts";
import { clock } from "./mysql-statement.ts";
import type { MysqlStoreOptions } from "./mysql-store.ts";

/** Where in MySQL or MariaDB. */
export type MysqlBlobsOptions = Pick<MysqlStoreOptions, "prefix" | "migrate">;

/**
 * Blobs in the table `stepfold_blobs` of MariaDB or MySQL, beside the tables of `mysqlStore`: what backs up the database
 * backs up the blobs. The pool is yours, as for the store; `migrateMysql` makes the table with the others.
 *
 * ```ts
 * import { blobbedStore } from "stepfold/stores/blobs";
 * import { mysqlBlobs, mysqlStore } from "stepfold/stores/mysql";
 *
 * const store = blobbedStore(mysqlStore(pool), mysqlBlobs(pool));
 * ```
 *
 * A blob goes over as one statement: one that is larger than the server's `max_allowed_packet` (16 MiB in MariaDB, 64 MiB
 * in MySQL, unless set otherwise), less 128 KiB, is `LIMIT_EXCEEDED` with both sizes. Calls reject as those of `mysqlStore`
 * do.
 *
 * @throws StepfoldError `OPTION_INVALID` for another kind of pool, or a prefix that is no part of a name
 */
export function mysqlBlobs(pool: MysqlPool, { prefix = "stepfold_", migrate = false }: MysqlBlobsOptions = {}): BlobStore {
  checkPool(pool);
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
    // the driver's are a part of all that it has received
    toBytes: (column) => new Uint8Array(column as Uint8Array),
    errorOf: mysqlError,
  });
}
