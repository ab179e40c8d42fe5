import { DatabaseSync } from "node:sqlite";
import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { hasTables, sqliteSchema } from "../sqlite-dialect/sqlite-schema.ts";
import { isBusy, sqliteError } from "./sqlite-error.ts";

/** How a file is opened. */
export interface OpenOptions {
  readonly synchronous?: "FULL" | "NORMAL";
  readonly busyTimeoutMs?: number;
}

/** An open, migrated database in WAL mode. Nothing is left open if it fails. */
export function openSqlite(path: string, { synchronous = "FULL", busyTimeoutMs = 5000 }: OpenOptions): DatabaseSync {
  // both go into PRAGMAs, which take no parameters
  if (synchronous !== "FULL" && synchronous !== "NORMAL") {
    throw new StepfoldError("OPTION_INVALID", { option: "synchronous", reason: 'must be "FULL" or "NORMAL"' });
  }
  if (!Number.isInteger(busyTimeoutMs) || busyTimeoutMs < 0) {
    throw new StepfoldError("OPTION_INVALID", { option: "busyTimeoutMs", reason: "must be a whole number of milliseconds" });
  }
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path);
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    // of a new file: a commit writes whole pages, and what it changes on each is small
    db.exec("PRAGMA page_size = 2048");
    switchToWal(db, busyTimeoutMs);
    db.exec(`PRAGMA synchronous = ${synchronous}`);
    migrate(db);
    return db;
  } catch (cause) {
    db?.close();
    throw sqliteError(cause, `cannot open "${path}"`);
  }
}

/** Makes the tables of a new file. Any number of processes may do so at once: the first one works, the others find it done. */
function migrate(db: DatabaseSync): void {
  const isMade = (): boolean => hasTables("sqlite", "file", db.prepare("PRAGMA user_version").get());
  if (isMade()) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    if (!isMade()) for (const statement of sqliteSchema) db.exec(statement);
    db.exec("COMMIT");
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw cause;
  }
}

/** SQLite does not wait by itself when several connections switch one new file to WAL at once. */
function switchToWal(db: DatabaseSync, busyTimeoutMs: number): void {
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      db.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (cause) {
      if (!isBusy(cause) || performance.now() > deadline) throw cause;
      // the call is synchronous: the thread sleeps for 5 ms
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
