import type { EpochMs } from "../../../core/values/json.ts";
import type { SqliteSession, SqlRow, SqlStatement, SqlValue } from "./statement.ts";

/** A database in this process, which answers at once. */
export interface SyncDatabase {
  /** The rows that a statement gives. Its first parameter comes apart from the others: so a step copies no list of them. */
  all(text: string, first: SqlValue, others: readonly SqlValue[]): readonly SqlRow[];
  /** Runs a statement that gives no rows. How many it changed; it may count their entries in indexes too. */
  run(text: string, first: SqlValue, others: readonly SqlValue[]): number;
  /** Makes what `work` does one transaction, which is undone if it throws. */
  transaction<T>(mode: "read" | "write", work: () => T): T;
  close(): void;
}

/** Sends statements to such a database, which it closes in the end. */
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
        writes.map(({ quick, whole, followUps }) => {
          const row = quick && db.run(quick.text, time, quick.values) > 0 ? { now: time } : rowOf(whole());
          // none of these needs the time
          if (row) for (const { text, values } of followUps(true)) db.run(text, null, values);
          return row;
        }),
      );
    },
    close: async () => db.close(),
  };
}
