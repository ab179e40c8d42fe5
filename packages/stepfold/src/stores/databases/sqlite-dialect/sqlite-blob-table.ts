import type { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import { sqlBlobs } from "../../kit/blobs/sql-blobs.ts";
import type { SqliteSession, SqlRow, SqlValue } from "./statement.ts";

/**
 * Returns the blobs in a table of SQLite or libSQL.
 *
 * @param now SQL for the time in a statement
 */
export function blobsIn(session: SqliteSession, name: string, now: string, errorOf: (cause: unknown) => StepfoldError): BlobStore {
  const ask = async (text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> => (await session.read([{ text, values }]))[0]!;
  return sqlBlobs<Uint8Array>({
    name,
    // SQLite limits a row to a thousand million bytes, of which the key and the other columns need some
    maxBytes: () => 999_000_000,
    statements: {
      // some drivers turn an empty array of bytes into NULL
      put: `INSERT INTO blobs (key, bytes, written_at) VALUES (?2, coalesce(?3, x''), ${now})
        ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes, written_at = excluded.written_at`,
      get: "SELECT bytes FROM blobs WHERE key = ?2",
      deleteBetween: "DELETE FROM blobs WHERE key >= ?2 AND key < ?3",
      page: "SELECT key, written_at FROM blobs WHERE key > ?2 ORDER BY key LIMIT ?3",
    },
    ...{ ask, change: ask, toValue: (bytes) => bytes, errorOf },
    toBytes: (column) => (column instanceof Uint8Array ? column : new Uint8Array(column as ArrayBuffer)),
  });
}
