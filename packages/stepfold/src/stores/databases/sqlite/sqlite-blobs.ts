import { aFunction, anything, checkOptions } from "../../../core/values/check-arguments.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import { blobsIn } from "../sqlite-dialect/sqlite-blob-table.ts";
import { openSqlite } from "./sqlite-client.ts";
import { sqliteError } from "./sqlite-error.ts";
import { sqliteSession } from "./sqlite-table.ts";

/** How blobs in SQLite behave. */
export interface SqliteBlobsOptions {
  /** When a blob counts as stored: `FULL` (default) once the disk has it, `NORMAL` once the operating system has it. */
  readonly synchronous?: "FULL" | "NORMAL" | undefined;
  /** The clock that says when a blob was written, in epoch milliseconds. Default `Date.now`. */
  readonly now?: (() => EpochMs) | undefined;
  /** How long to wait, in milliseconds, while another process writes. The thread is blocked meanwhile. Default 5,000. */
  readonly busyTimeoutMs?: number | undefined;
}

/** Blobs in an open file. */
export interface SqliteBlobs extends BlobStore {
  /** Closes the file. Safe to call twice; any other call afterwards is `STORE_UNAVAILABLE`. */
  close(): Promise<void>;
}

/**
 * Blobs in the table `blobs` of an SQLite file. It may be the file of `sqliteStore`, so that a copy of one file is a copy of
 * everything. The file and its tables are created if they do not exist. Any number of processes may use the file at once.
 *
 * ```ts
 * import { blobbedStore } from "stepfold/stores/blobs";
 * import { sqliteBlobs, sqliteStore } from "stepfold/stores/sqlite";
 *
 * const blobs = sqliteBlobs("workflows.db");
 * const store = blobbedStore(sqliteStore("workflows.db"), blobs);
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * await blobs.close();
 * ```
 *
 * A blob of more than 999,000,000 bytes is refused with `LIMIT_EXCEEDED`. Reading and writing block this thread, which is
 * noticeable for a hundred megabytes.
 *
 * @throws StepfoldError `STORE_UNAVAILABLE` if the file cannot be opened, or is locked for longer than `busyTimeoutMs`
 * @throws StepfoldError `STORE_REJECTED` if the file is not an SQLite file, cannot be written, or was made by another version
 * @throws StepfoldError `OPTION_INVALID` if `synchronous` or `busyTimeoutMs` has another value than described
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function sqliteBlobs(path: string, options: SqliteBlobsOptions = {}): SqliteBlobs {
  checkOptions("sqliteBlobs", options, { synchronous: anything, now: aFunction, busyTimeoutMs: anything });
  const db = openSqlite(path, options);
  const session = sqliteSession(db, options.now ?? Date.now);
  return {
    ...blobsIn(session, "sqlite", "?1", sqliteError),
    async close() {
      if (db.isOpen) await session.close();
    },
  };
}
