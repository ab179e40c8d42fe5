/** The most bytes of a value in SQLite are a thousand million; the key and the rest of the row take of them. */
export const maxSqliteBlobBytes = 999_000_000;

/**
 * Puts a blob: key, bytes, time. Some drivers make a null of no bytes at all.
 *
 * @param now what gives the time
 */
export function putBlobStatement(now: string): string {
  return `INSERT INTO blobs (key, bytes, written_at) VALUES (?1, coalesce(?2, x''), ${now})
    ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes, written_at = excluded.written_at`;
}

/** Gives the bytes under a key. */
export const blobStatement = "SELECT bytes FROM blobs WHERE key = ?1";

/** Deletes from one key on, and before another one. */
export const deleteBlobsStatement = "DELETE FROM blobs WHERE key >= ?1 AND key < ?2";

/** Lists what follows a key. */
export const blobPageStatement = "SELECT key, written_at AS writtenAt FROM blobs WHERE key > ?1 ORDER BY key LIMIT ?2";
