import type { EpochMs } from "../../../core/values/json.ts";
import type { SqliteSession, SqlRow, SqlStatement, SqlValue } from "./statement.ts";

/** SQL for the time that decides about leases and due times: the parameter `?1`, or the database's clock if `?1` is NULL. */
export const databaseClock = "coalesce(?1, CAST(round(unixepoch('subsec') * 1000) AS INTEGER))";

/** A statement with all its parameters, of which the first one is the time. */
export interface BatchStatement {
  sql: string;
  args: SqlValue[];
}

/** A database that takes several statements only as one batch, without an answer in between. */
export interface BatchDatabase {
  /** Resolves once the tables exist. */
  ready(): Promise<void>;
  /** Sends statements as one transaction, and returns the rows of each. A single statement that reads needs no transaction. */
  send(statements: BatchStatement[], mode: "read" | "write"): Promise<readonly (readonly SqlRow[])[]>;
  /** Returns the time; null: the database's clock is used. */
  now(): EpochMs | null;
}

/** Returns a session over such a database. `close()` does not close the database, because the client belongs to the user. */
export function batchSession({ ready, send, now }: BatchDatabase): SqliteSession {
  return {
    async read(statements) {
      await ready();
      return statements.length === 0 ? [] : send(sendable(statements, now()), "read");
    },
    async write(writes) {
      await ready();
      // all statements are sent together, so none of them can wait for the answer of another one
      const time = now();
      const parts = writes.map(({ full, followUps }) => sendable([full(), ...followUps(false)], time));
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

/** Adds the time to statements, and replaces numbers that are not finite with the largest or smallest safe integer. */
function sendable(statements: readonly SqlStatement[], time: EpochMs | null): BatchStatement[] {
  return statements.map(({ text, values }) => {
    const args = [time, ...values].map((value) => {
      if (typeof value !== "number" || Number.isFinite(value)) return value;
      return value > 0 ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
    });
    return { sql: text, args };
  });
}
