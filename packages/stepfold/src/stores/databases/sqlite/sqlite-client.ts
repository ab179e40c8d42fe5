import { DatabaseSync } from "node:sqlite";
import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { hasTables, sqliteSchema } from "../sqlite-dialect/sqlite-schema.ts";
import { isBusy, sqliteError } from "./sqlite-error.ts";

/** How a file is opened: see `SqliteStoreOptions`. */
export interface OpenOptions {
  readonly synchronous?: "FULL" | "NORMAL" | undefined;
  readonly busyTimeoutMs?: number | undefined;
}

/** Opens a database in WAL mode, and creates its tables if they do not exist. Throws if that fails; then the file is closed again. */
export function openSqlite(path: string, { synchronous = "FULL", busyTimeoutMs = 5000 }: OpenOptions): DatabaseSync {
  // both options become part of the text of a PRAGMA, which takes no parameters
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
    // for a new file: pages are small, because a commit writes whole pages and changes little on each
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

/** Creates the tables in a database that its user has opened, if they do not exist; in the transaction that is open, if one is. */
export function useSqlite(db: DatabaseSync): void {
  try {
    migrate(db);
  } catch (cause) {
    throw sqliteError(cause, "cannot use the database");
  }
}

/** Creates the tables of a new file. Any number of processes may do so at once: the first one creates them, the others find them. */
function migrate(db: DatabaseSync): void {
  const isMade = (): boolean => hasTables("sqlite", "file", db.prepare("PRAGMA user_version").get());
  if (isMade()) return;
  asOne(
    db,
    "BEGIN IMMEDIATE",
    (text) => db.exec(text),
    () => {
      if (!isMade()) for (const statement of sqliteSchema) db.exec(statement);
    },
  );
}

/**
 * Runs `work` in one transaction, which is undone if `work` throws. In a transaction that its user has begun, only the work is undone, and
 * the user decides about the rest.
 *
 * @param begin the statement that begins a transaction, if none is open
 */
export function asOne<T>(db: DatabaseSync, begin: string, run: (text: string) => void, work: () => T): T {
  const isInside = db.isTransaction;
  run(isInside ? "SAVEPOINT stepfold" : begin);
  try {
    const result = work();
    run(isInside ? "RELEASE stepfold" : "COMMIT");
    return result;
  } catch (cause) {
    // SQLite rolls back by itself after some errors
    if (db.isTransaction) for (const text of isInside ? ["ROLLBACK TO stepfold", "RELEASE stepfold"] : ["ROLLBACK"]) run(text);
    throw cause;
  }
}

/** Switches a file to WAL. It waits by itself, because SQLite does not wait if several connections switch a new file at once. */
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
