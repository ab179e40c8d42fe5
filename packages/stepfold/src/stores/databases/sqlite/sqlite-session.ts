import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EpochMs } from "../../../core/values/json.ts";
import type { PlannedWrite } from "../sqlite-dialect/row-statements.ts";
import type { SqliteSession } from "../sqlite-dialect/sqlite-table.ts";
import type { SqlRow, SqlStatement } from "../sqlite-dialect/statement.ts";

/** Most statements that are kept prepared: more are only met where lists are asked for in ever new ways. */
const maxPrepared = 200;

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
  const rowsOf = ({ text, values }: SqlStatement): readonly SqlRow[] => prepare(text).all(...values);

  const rowOf = ({ text, values }: SqlStatement): SqlRow | null => prepare(text).get(...values) ?? null;

  const made = ({ quick, whole, followUps }: PlannedWrite): SqlRow | null => {
    const row = (quick && rowOf(quick())) ?? rowOf(whole());
    if (row) for (const { text, values } of followUps(row.seq as number)) prepare(text).run(...values);
    return row;
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
    time: now,
    async read(statements) {
      if (statements.length < 2) return statements.map(rowsOf);
      return inTransaction("BEGIN", () => statements.map(rowsOf));
    },
    // taking the lock first makes sure that it never has to be upgraded, which may fail at once
    write: async (writes) => inTransaction("BEGIN IMMEDIATE", () => writes.map(made)),
    close: async () => db.close(),
  };
}
