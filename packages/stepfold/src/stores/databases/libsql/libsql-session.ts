import type { EpochMs } from "../../../core/values/json.ts";
import type { SqliteSession } from "../sqlite-dialect/sqlite-table.ts";
import type { SqlStatement } from "../sqlite-dialect/statement.ts";
import type { LibsqlClient, LibsqlResult, LibsqlStatement } from "./libsql-client.ts";

/** What gives the database's time in a statement. */
export const databaseClock = "CAST(round(unixepoch('subsec') * 1000) AS INTEGER)";

/** What gives the time that judges: the one that is given, or that of the database, because a server is another machine. */
export const clock: string = `coalesce(?1, ${databaseClock})`;

/**
 * Sends statements over a client.
 *
 * @param prepare what has to be done once before anything else; it is tried again with the next call if it failed
 */
export function libsqlSession(client: LibsqlClient, prepare: () => Promise<void>, now: (() => EpochMs) | undefined): SqliteSession {
  let ready: Promise<void> | null = null;
  const prepared = (): Promise<void> => {
    ready ??= prepare().catch((cause: unknown) => {
      ready = null;
      throw cause;
    });
    return ready;
  };
  return {
    time: () => now?.() ?? null,
    async read(statements) {
      await prepared();
      const [first, ...others] = statements.map(sendable);
      if (!first) return [];
      const results = others.length === 0 ? [await client.execute(first)] : await batchUnstuck(client, [first, ...others], "read");
      return results.map(({ rows }) => rows);
    },
    async write(writes) {
      await prepared();
      // all are sent together, so none can wait for the answer of another one
      const parts = writes.map(({ whole, followUps }) => [whole(), ...followUps(null)].map(sendable));
      const results = await batchUnstuck(client, parts.flat(), "write");
      let at = 0;
      return parts.map((part) => {
        const [row] = results[at]!.rows;
        at += part.length;
        return row ?? null;
      });
    },
    close: async () => undefined,
  };
}

/** Any number as one that a statement takes. */
function sendable({ text, values }: SqlStatement): LibsqlStatement {
  const args = values.map((value) => {
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    return value > 0 ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
  });
  return { sql: text, args };
}

/**
 * After a file was locked the driver keeps the statement that was refused until it is collected, and until then no
 * transaction on that connection can end. A new connection can.
 */
async function batchUnstuck(client: LibsqlClient, statements: LibsqlStatement[], mode: "read" | "write"): Promise<LibsqlResult[]> {
  try {
    return await client.batch(statements, mode);
  } catch (cause) {
    const isStuck = client.protocol === "file" && cause instanceof Error && cause.message.includes("SQL statements in progress");
    if (!isStuck || !client.reconnect) throw cause;
    await client.reconnect();
    return await client.batch(statements, mode);
  }
}
