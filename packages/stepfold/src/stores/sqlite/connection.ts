import type { DatabaseSync } from "node:sqlite";
import type { EpochMs } from "../../core/values/json.ts";
import type { Walk } from "../sql/sqlite-turns.ts";
import { prepareStatements, type Statements } from "./statements.ts";

/** An open database, its statements, and what they depend on. */
export interface Connection {
  readonly db: DatabaseSync;
  readonly sql: Statements;
  readonly now: () => EpochMs;
  readonly retentionMs: number;
  readonly walk: Walk;
}

/** Prepares a database for use. */
export function connect(db: DatabaseSync, now: () => EpochMs, retentionMs: number): Connection {
  return { db, sql: prepareStatements(db), now, retentionMs, walk: { after: "" } };
}

/** Runs `work` in one transaction that may write. Taking the lock first makes sure that it never has to be upgraded, which may fail at once. */
export function writing<T>({ db, sql }: Connection, work: () => T): T {
  sql.begin.run();
  return finish(db, sql, work);
}

/** Runs `work` on one state of the data, whatever other processes write meanwhile. */
export function reading<T>({ db, sql }: Connection, work: () => T): T {
  sql.beginReading.run();
  return finish(db, sql, work);
}

function finish<T>(db: DatabaseSync, sql: Statements, work: () => T): T {
  try {
    const result = work();
    sql.commit.run();
    return result;
  } catch (cause) {
    // SQLite rolls back by itself after some errors
    if (db.isTransaction) sql.rollback.run();
    throw cause;
  }
}
