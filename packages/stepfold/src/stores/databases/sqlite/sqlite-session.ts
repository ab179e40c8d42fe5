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

  const made = (write: PlannedWrite): SqlRow | null => {
    for (const attempt of write.attempts) {
      const [row] = rowsOf(attempt);
      if (!row) continue;
      for (const { text, values } of write.followUps(row.seq as number)) prepare(text).run(...values);
      return row;
    }
    return null;
  };
  return {
    time: now,
    read: async (statements) => statements.map(rowsOf),
    async write(writes) {
      // taking the lock first makes sure that it never has to be upgraded, which may fail at once
      prepare("BEGIN IMMEDIATE").run();
      try {
        const rows = writes.map(made);
        prepare("COMMIT").run();
        return rows;
      } catch (cause) {
        // SQLite rolls back by itself after some errors
        if (db.isTransaction) prepare("ROLLBACK").run();
        throw cause;
      }
    },
    close: async () => db.close(),
  };
}
