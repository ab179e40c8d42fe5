import type { DatabaseSync } from "node:sqlite";
import { aFunction, anything, aTime, checkOptions, requireMethods } from "../../../core/values/check-arguments.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { refuseOption } from "../../kit/refuse-option.ts";
import { type RetentionOptions, storeOver } from "../../kit/store-over.ts";
import type { SqliteTable } from "../sqlite-dialect/sqlite-table.ts";
import { openSqlite, useSqlite } from "./sqlite-client.ts";
import { sqliteError } from "./sqlite-error.ts";
import { sqliteTable } from "./sqlite-table.ts";

/** The part of a `DatabaseSync` of `node:sqlite` by which it is known, declared here so that types need no package. */
export interface SqliteDatabase {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): object;
  location(): string | null;
}

/** How an SQLite store behaves. */
export interface SqliteStoreOptions extends RetentionOptions {
  /** When a commit counts as written: `FULL` (default) once the disk has it, `NORMAL` once the operating system has it. */
  readonly synchronous?: "FULL" | "NORMAL" | undefined;
  /** The clock that judges leases and due times, in epoch milliseconds. Default `Date.now`. */
  readonly now?: (() => EpochMs) | undefined;
  /** How long to wait, in milliseconds, while another process writes. The thread is blocked meanwhile. Default 5,000. */
  readonly busyTimeoutMs?: number | undefined;
}

/**
 * A store in one SQLite file, for one machine: any number of processes may open it at once. It needs Node.js 22.18 or later.
 *
 * The file is created if it does not exist; its folder must exist. With `synchronous: "FULL"` an acknowledged commit survives
 * a power loss; with `"NORMAL"` a power loss may lose the latest commits, but a crash of the process loses nothing.
 * Neither damages the file. Commits that are issued together share one wait for the disk.
 * `":memory:"` gives a private store that is lost at `close()`.
 *
 * Instead of a path it takes a `DatabaseSync` that you have opened, and that you close. What the store does while a transaction of yours is
 * open there is a part of it: see `docs/guides/own-transaction.md`.
 *
 * The view `workflow_executions` shows every execution as one JSON document:
 * `SELECT id, snapshot ->> '$.metadata.customer' FROM workflow_executions WHERE status = 'failed'`.
 *
 * ```ts
 * import { sqliteStore } from "stepfold/stores/sqlite";
 *
 * const store = sqliteStore("workflows.db");
 * console.log(await store.load("order-1")); // null
 * await store.close();
 * ```
 *
 * @throws StepfoldError `STORE_UNAVAILABLE` if the file cannot be opened, or is locked for longer than `busyTimeoutMs`
 * @throws StepfoldError `STORE_REJECTED` if the file is not an SQLite file, cannot be written, or was made by another version
 * @throws StepfoldError `OPTION_INVALID` if `synchronous` or `busyTimeoutMs` has another value than described
 * @throws StepfoldError `OPTION_UNKNOWN`
 */
export function sqliteStore(path: string | SqliteDatabase, options: SqliteStoreOptions = {}): SnapshotStore {
  checkOptions("sqliteStore", options, { synchronous: anything, now: aFunction, busyTimeoutMs: anything, idempotencyRetentionMs: aTime });
  const { now = Date.now, idempotencyRetentionMs } = options;
  const table = typeof path === "string" ? sqliteTable(openSqlite(path, options), now, isFile(path)) : tableIn(path, options, now);
  return storeOver(table, { idempotencyRetentionMs, errorOf: sqliteError });
}

/** Returns the executions in a database of the user, which stays open. Its settings are the user's. */
function tableIn(database: SqliteDatabase, { synchronous, busyTimeoutMs }: SqliteStoreOptions, now: () => EpochMs): SqliteTable {
  requireMethods("path", database, "a path, or a DatabaseSync of node:sqlite", ["prepare", "exec", "location"]);
  for (const [option, value] of Object.entries({ synchronous, busyTimeoutMs }))
    refuseOption(option, value !== undefined, "is a setting of the database that you have opened: set it there");
  const db = database as DatabaseSync;
  useSqlite(db);
  return sqliteTable(db, now, isFile(db.location() ?? ""), () => undefined);
}

function isFile(path: string): boolean {
  return path !== ":memory:" && path !== "";
}
