import type { EpochMs } from "../../../core/values/json.ts";
import type { SqliteSession, SqlRow, SqlStatement, SqlValue } from "./statement.ts";

/** A database in this process, which answers synchronously. */
export interface SyncDatabase {
  /** Returns the rows of a statement. The first parameter is separate from the others, so that a step does not copy a list of values. */
  all(text: string, first: SqlValue, others: readonly SqlValue[]): readonly SqlRow[];
  /** Runs a statement that returns no rows. Returns how many rows it changed; the number may include their entries in indexes. */
  run(text: string, first: SqlValue, others: readonly SqlValue[]): number;
  /** Runs `work` in one transaction, which is rolled back if `work` throws. */
  transaction<T>(mode: "read" | "write", work: () => T): T;
  close(): void;
}

/** Returns a session over such a database. `close()` calls `close()` of the database. */
export function syncSession(db: SyncDatabase, now: () => EpochMs): SqliteSession {
  return {
    async read(statements) {
      const time = now();
      const rows = () => statements.map(({ text, values }) => db.all(text, time, values));
      return statements.length < 2 ? rows() : db.transaction("read", rows);
    },
    async write(writes) {
      const time = now();
      const rowOf = ({ text, values }: SqlStatement): SqlRow | null => db.all(text, time, values)[0] ?? null;
      return db.transaction("write", () =>
        writes.map(({ quickUpdate, full, followUps }) => {
          const row = quickUpdate && db.run(quickUpdate.text, time, quickUpdate.values) > 0 ? { now: time } : rowOf(full());
          // none of these statements uses the time
          if (row) for (const { text, values } of followUps(true)) db.run(text, null, values);
          return row;
        }),
      );
    },
    close: async () => db.close(),
  };
}
