import type { EpochMs } from "../../../core/values/json.ts";
import type { SqliteSession, SqlRow, SqlStatement, SqlValue } from "./statement.ts";

/** What gives the time that judges: the one that is given, or that of the database, because a server is another machine. */
export const databaseClock = "coalesce(?1, CAST(round(unixepoch('subsec') * 1000) AS INTEGER))";

/** A statement with all its parameters, the time too. */
export interface BatchStatement {
  sql: string;
  args: SqlValue[];
}

/** A database that takes several statements only all at once. */
export interface BatchDatabase {
  /** Resolves when the tables are there. */
  ready(): Promise<void>;
  /** Sends statements as one transaction. The rows of each. A lone one may be read by itself. */
  send(statements: BatchStatement[], mode: "read" | "write"): Promise<readonly (readonly SqlRow[])[]>;
  /** What gives the time. Null: the database's clock. */
  now(): EpochMs | null;
}

/** Sends statements to such a database. It is not closed: its client is the user's. */
export function batchSession({ ready, send, now }: BatchDatabase): SqliteSession {
  return {
    async read(statements) {
      await ready();
      return statements.length === 0 ? [] : send(sendable(statements, now()), "read");
    },
    async write(writes) {
      await ready();
      // all are sent together, so none can wait for the answer of another one
      const time = now();
      const parts = writes.map(({ whole, followUps }) => sendable([whole(), ...followUps(false)], time));
      const results = await send(parts.flat(), "write");
      let at = 0;
      return parts.map((part) => {
        const [row] = results[at]!;
        at += part.length;
        return row ?? null;
      });
    },
    close: async () => undefined,
  };
}

/** Statements with their time, and any number as one that a statement takes. */
function sendable(statements: readonly SqlStatement[], time: EpochMs | null): BatchStatement[] {
  return statements.map(({ text, values }) => {
    const args = [time, ...values].map((value) => {
      if (typeof value !== "number" || Number.isFinite(value)) return value;
      return value > 0 ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
    });
    return { sql: text, args };
  });
}
