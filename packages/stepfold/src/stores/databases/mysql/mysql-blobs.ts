import type { BlobStore } from "../../../ports/blob-store.ts";
import { blobsOver } from "../../kit/blobs/blob-table.ts";
import { checkPool, type MysqlPool } from "./mysql-client.ts";
import { mysqlError } from "./mysql-error.ts";
import { prepared } from "./mysql-schema.ts";
import { columnText, committedRows, inTransaction, type MysqlValue, numberOf, type Row } from "./mysql-session.ts";
import { clock, tablesOf } from "./mysql-statement.ts";

/** Where in MySQL or MariaDB. */
export interface MysqlBlobsOptions {
  /** That of the store: letters, digits and underscores, at most 44. Default `stepfold_`. */
  readonly prefix?: string;
  /** Makes the tables, or brings them to today's layout, before the first call. Default false: `migrateMysql` does it. */
  readonly migrate?: boolean;
}

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
  const { blobs } = tablesOf(prefix);
  const ready = prepared({ pool, prefix, migrate, maxValueBytes: 0 });
  const rowsOf = async (sql: string, values: readonly MysqlValue[]): Promise<readonly Row[]> => {
    await ready();
    return committedRows(pool, sql, values);
  };
  return blobsOver(
    {
      name: "mysql",
      maxBytes: ready,
      async put(key, bytes) {
        await inTransaction(pool, (session) =>
          session.run(
            `INSERT INTO ${blobs} (name, bytes, written_at) VALUES (?, ?, ${clock})
            ON DUPLICATE KEY UPDATE bytes = VALUES(bytes), written_at = VALUES(written_at)`,
            [key, bytes],
          ),
        );
      },
      async get(key) {
        const [row] = await rowsOf(`SELECT bytes FROM ${blobs} WHERE name = ?`, [key]);
        // the driver's are a part of all that it has received
        return row ? new Uint8Array(row[0] as Uint8Array) : null;
      },
      async deleteBetween(from, before) {
        await ready();
        await inTransaction(pool, (session) => session.run(`DELETE FROM ${blobs} WHERE name >= ? AND name < ?`, [from, before]));
      },
      async page(after, limit) {
        const rows = await rowsOf(`SELECT name, written_at FROM ${blobs} WHERE name > ? ORDER BY name LIMIT ?`, [after, limit]);
        return rows.map(([name, writtenAt]) => ({ key: columnText(name), writtenAt: numberOf(writtenAt) }));
      },
    },
    mysqlError,
  );
}
