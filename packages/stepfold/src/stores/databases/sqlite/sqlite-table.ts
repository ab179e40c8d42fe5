import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EpochMs } from "../../../core/values/json.ts";
import { SqliteTable } from "../sqlite-dialect/sqlite-table.ts";
import type { SqliteSession, SqlValue } from "../sqlite-dialect/statement.ts";
import { syncSession } from "../sqlite-dialect/sync-session.ts";
import { isBusy } from "./sqlite-error.ts";

/** The most prepared statements that are kept; then all are dropped. Lists with ever new filters, and ever new counts of ids, need more. */
const maxPrepared = 200;

/**
 * Returns the executions in an open database. `close()` closes the database.
 *
 * @param isShared true for a file; false for a database in memory, which only this process sees and which ends with it
 */
export function sqliteTable(db: DatabaseSync, now: () => EpochMs, isShared: boolean): SqliteTable {
  return new SqliteTable(sqliteSession(db, now), {
    name: "sqlite",
    features: { clock: "store", durable: isShared, multiProcess: isShared, permits: true },
    now: "?1",
    // all writes of one turn of the event loop share one wait for the disk, during which other processes cannot write
    grouping: { maxWrites: 256, isOutage: isBusy, perTurn: true },
  });
}

/** Returns a session over an open database. `close()` closes the database. */
export function sqliteSession(db: DatabaseSync, now: () => EpochMs): SqliteSession {
  const prepared = new Map<string, StatementSync>();
  const prepare = (text: string): StatementSync => {
    const known = prepared.get(text);
    if (known) return known;
    if (prepared.size >= maxPrepared) prepared.clear();
    const statement = db.prepare(text);
    prepared.set(text, statement);
    return statement;
  };
  const transaction = <T>(mode: "read" | "write", work: () => T): T => {
    // the write lock is taken first, because upgrading a read lock later may fail without waiting
    prepare(mode === "read" ? "BEGIN" : "BEGIN IMMEDIATE").run();
    try {
      const result = work();
      prepare("COMMIT").run();
      return result;
    } catch (cause) {
      // SQLite rolls back by itself after some errors
      if (db.isTransaction) prepare("ROLLBACK").run();
      throw cause;
    }
  };
  const all = (text: string, first: SqlValue, others: readonly SqlValue[]) => prepare(text).all(first, ...others);
  const run = (text: string, first: SqlValue, others: readonly SqlValue[]) => Number(prepare(text).run(first, ...others).changes);
  return syncSession({ all, run, transaction, close: () => db.close() }, now);
}
