import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EpochMs } from "../../../core/values/json.ts";
import { SqliteTable } from "../sqlite-dialect/sqlite-table.ts";
import type { SqliteSession, SqlValue } from "../sqlite-dialect/statement.ts";
import { syncSession } from "../sqlite-dialect/sync-session.ts";
import { asOne } from "./sqlite-client.ts";
import { isBusy } from "./sqlite-error.ts";

/** The most prepared statements that are kept; then all are dropped. Lists with ever new filters, and ever new counts of ids, need more. */
const maxPrepared = 200;

/**
 * Returns the executions in an open database.
 *
 * @param isShared true for a file; false for a database in memory, which only this process sees and which ends with it
 * @param close what `close()` does. Default: it closes the database
 */
export function sqliteTable(db: DatabaseSync, now: () => EpochMs, isShared: boolean, close?: () => void): SqliteTable {
  return new SqliteTable(sqliteSession(db, now, close), {
    name: "sqlite",
    features: { clock: "store", durable: isShared, multiProcess: isShared, permits: true },
    now: "?1",
    // all writes of one turn of the event loop share one wait for the disk, during which other processes cannot write
    grouping: { maxWrites: 256, isOutage: isBusy, perTurn: true },
  });
}

/** Returns a session over an open database. @param close what `close()` does. Default: it closes the database */
export function sqliteSession(db: DatabaseSync, now: () => EpochMs, close: () => void = () => db.close()): SqliteSession {
  const prepared = new Map<string, StatementSync>();
  const prepare = (text: string): StatementSync => {
    const known = prepared.get(text);
    if (known) return known;
    if (prepared.size >= maxPrepared) prepared.clear();
    const statement = db.prepare(text);
    prepared.set(text, statement);
    return statement;
  };
  // the write lock is taken first, because upgrading a read lock later may fail without waiting
  const transaction = <T>(mode: "read" | "write", work: () => T): T =>
    asOne(db, mode === "read" ? "BEGIN" : "BEGIN IMMEDIATE", (text) => void prepare(text).run(), work);
  const all = (text: string, first: SqlValue, others: readonly SqlValue[]) => prepare(text).all(first, ...others);
  const run = (text: string, first: SqlValue, others: readonly SqlValue[]) => Number(prepare(text).run(first, ...others).changes);
  return syncSession({ all, run, transaction, close }, now);
}
