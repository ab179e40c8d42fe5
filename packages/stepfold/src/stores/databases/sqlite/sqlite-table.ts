import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EpochMs } from "../../../core/values/json.ts";
import { SqliteTable } from "../sqlite-dialect/sqlite-table.ts";
import type { SqliteSession, SqlRow, SqlStatement } from "../sqlite-dialect/statement.ts";
import { isBusy } from "./sqlite-error.ts";

/** Most statements that are kept prepared: more are only met where lists are asked for in ever new ways. */
const maxPrepared = 200;

/** Executions in an open database, which is closed in the end. */
export function sqliteTable(db: DatabaseSync, now: () => EpochMs, isShared: boolean): SqliteTable {
  return new SqliteTable(sqliteSession(db, now), {
    name: "sqlite",
    features: { clock: "store", durable: isShared, multiProcess: isShared, permits: true },
    now: "?1",
    // one wait for the disk serves all writes that are issued in one turn of the event loop; other processes wait as long for theirs
    grouping: { maxWrites: 256, isOutage: isBusy, gather: () => new Promise((resolve) => setImmediate(resolve)) },
  });
}

/** Sends statements to an open database, which it closes in the end. */
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
  const inTransaction = <T>(begin: string, work: () => T): T => {
    prepare(begin).run();
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
  return {
    async read(statements) {
      const time = now();
      const rows = () => statements.map(({ text, values }) => prepare(text).all(time, ...values));
      return statements.length < 2 ? rows() : inTransaction("BEGIN", rows);
    },
    async write(writes) {
      const time = now();
      const rowOf = ({ text, values }: SqlStatement): SqlRow | null => prepare(text).get(time, ...values) ?? null;
      const rows = () =>
        writes.map(({ quick, whole, followUps }) => {
          const row = (quick && rowOf(quick())) ?? rowOf(whole());
          // none of these needs the time
          if (row) for (const { text, values } of followUps(row.seq as number)) prepare(text).run(null, ...values);
          return row;
        });
      // taking the lock first makes sure that it never has to be upgraded, which may fail at once
      return inTransaction("BEGIN IMMEDIATE", rows);
    },
    close: async () => db.close(),
  };
}
