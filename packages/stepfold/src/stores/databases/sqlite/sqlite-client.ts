import { DatabaseSync } from "node:sqlite";
import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { layoutProblem, sqliteLayout, sqliteSchema } from "../sqlite-dialect/sqlite-schema.ts";
import { isBusy, sqliteError } from "./sqlite-error.ts";

/** How a file is opened. */
export interface OpenOptions {
  readonly synchronous: "FULL" | "NORMAL";
  readonly busyTimeoutMs: number;
}

/** An open, migrated database in WAL mode. Nothing is left open if it fails. */
export function openSqlite(path: string, { synchronous, busyTimeoutMs }: OpenOptions): DatabaseSync {
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
  if (layoutOf(db) === sqliteLayout) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    if (layoutOf(db) === 0) for (const statement of sqliteSchema) db.exec(statement);
    db.exec(`PRAGMA user_version = ${sqliteLayout}`);
    db.exec("COMMIT");
  } catch (cause) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw cause;
  }
}

function layoutOf(db: DatabaseSync): number {
  const layout = Number(db.prepare("PRAGMA user_version").get()?.user_version ?? 0);
  const problem = layoutProblem(layout);
  if (problem) throw new StepfoldError("STORE_REJECTED", { store: "sqlite", reason: `the file cannot be used: ${problem}` });
  return layout;
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
      sleep(5);
    }
  }
}

function sleep(delayMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delayMs);
}
