import { aFlag, aText, checkOptions } from "../../../core/values/check-arguments.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import { fromBase64, toBase64 } from "../../kit/blobs/base64.ts";
import { sqlBlobs } from "../../kit/blobs/sql-blobs.ts";
import type { PostgresClient } from "./postgres-client.ts";
import { postgresError } from "./postgres-error.ts";
import { postgresSession } from "./postgres-session.ts";
import type { PostgresStoreOptions } from "./postgres-store.ts";

/** Options of blobs in PostgreSQL: the schema, and whether the first call creates the tables. */
export type PostgresBlobsOptions = Pick<PostgresStoreOptions, "schema" | "migrate">;

/** The largest blob in bytes. It is sent as base64 in one text, and JavaScript limits a text to about 500 million characters. */
const maxBytes = 256 * 2 ** 20;

/**
 * Blobs in the table `blobs` of a PostgreSQL schema, next to the tables of `postgresStore`, so that a backup of the database
 * includes the blobs. You provide the client, as for the store; `migratePostgres` also creates this table.
 *
 * ```ts
 * import { blobbedStore } from "stepfold/stores/blobs";
 * import { postgresBlobs, postgresStore } from "stepfold/stores/postgres";
 *
 * const store = blobbedStore(postgresStore(pool), postgresBlobs(pool));
 * ```
 *
 * A blob of more than 256 MiB is refused with `LIMIT_EXCEEDED`. Apart from that, calls reject with the same errors as those of
 * `postgresStore`.
 *
 * @throws StepfoldError `OPTION_INVALID` if `schema` is not a valid name
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function postgresBlobs(client: PostgresClient, options: PostgresBlobsOptions = {}): BlobStore {
  checkOptions("postgresBlobs", options, { schema: aText, migrate: aFlag });
  const { schema = "stepfold", migrate = false } = options;
  const { ask } = postgresSession(client, { schema, migrate, prepare: false });
  const blobs = `"${schema}".blobs`;
  return sqlBlobs<string>({
    name: "postgres",
    maxBytes: () => maxBytes,
    // bytes are sent and read as base64 text, because drivers convert other types differently
    statements: {
      put: `INSERT INTO ${blobs} (key, bytes, written_at)
        VALUES ($1, decode($2, 'base64'), floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
        ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes, written_at = excluded.written_at`,
      get: `SELECT encode(bytes, 'base64') AS bytes FROM ${blobs} WHERE key = $1`,
      deleteBetween: `DELETE FROM ${blobs} WHERE key >= $1 AND key < $2`,
      page: `SELECT key, written_at::text FROM ${blobs} WHERE key > $1 ORDER BY key LIMIT $2::bigint`,
    },
    ask: (text, values) => ask(text, values.map(String)),
    change: (text, values) => ask(text, values.map(String)),
    toValue: toBase64,
    toBytes: (column) => fromBase64(column as string),
    errorOf: postgresError,
  });
}
