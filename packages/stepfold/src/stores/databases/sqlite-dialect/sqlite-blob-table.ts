import type { BlobTable } from "../../kit/blobs/blob-table.ts";
import type { SqliteSession, SqlRow, SqlValue } from "./statement.ts";

/**
 * Blobs in a table of SQLite or libSQL.
 *
 * @param now what gives the time in a statement
 */
export function sqliteBlobTable(name: string, session: SqliteSession, now: string): BlobTable {
  const rowsOf = async (text: string, ...values: SqlValue[]): Promise<readonly SqlRow[]> => (await session.read([{ text, values }]))[0]!;
  return {
    name,
    // SQLite's limit is a thousand million; the key and the rest of the row take of them
    maxBytes: () => 999_000_000,
    async put(key, bytes) {
      // some drivers make a null of no bytes at all
      const put = `INSERT INTO blobs (key, bytes, written_at) VALUES (?2, coalesce(?3, x''), ${now})
        ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes, written_at = excluded.written_at`;
      await rowsOf(put, key, bytes);
    },
    async get(key) {
      const [row] = await rowsOf("SELECT bytes FROM blobs WHERE key = ?2", key);
      if (!row) return null;
      return row.bytes instanceof Uint8Array ? row.bytes : new Uint8Array(row.bytes as ArrayBuffer);
    },
    async deleteBetween(from, before) {
      await rowsOf("DELETE FROM blobs WHERE key >= ?2 AND key < ?3", from, before);
    },
    async page(after, limit) {
      const text = "SELECT key, written_at AS writtenAt FROM blobs WHERE key > ?2 ORDER BY key LIMIT ?3";
      return (await rowsOf(text, after, limit)).map(({ key, writtenAt }) => ({ key: key as string, writtenAt: Number(writtenAt) }));
    },
  };
}
