import type { EpochMs } from "../../../core/values/json.ts";
import { onceReady } from "../../kit/once-ready.ts";
import type { SqliteSession, SqlStatement } from "../sqlite-dialect/statement.ts";
import type { LibsqlClient, LibsqlResult, LibsqlStatement } from "./libsql-client.ts";
import { checkLayout, migrateLibsql } from "./libsql-schema.ts";

/** What gives the time that judges: the one that is given, or that of the database, because a server is another machine. */
export const clock = "coalesce(?1, CAST(round(unixepoch('subsec') * 1000) AS INTEGER))";

/**
 * Sends statements over a client.
 *
 * @param migrate whether the tables are made before the first call, or only looked for; both are tried again if they failed
 * @param now what gives the time. Default: the database's clock
 */
export function libsqlSession(client: LibsqlClient, migrate: boolean | "auto", now: () => EpochMs | null = () => null): SqliteSession {
  const makesTables = migrate === "auto" ? client.protocol === "file" : migrate;
  const prepared = onceReady(() => (makesTables ? migrateLibsql(client) : checkLayout(client)));
  return {
    async read(statements) {
      await prepared();
      const sent = sendable(statements, now());
      const results =
        sent.length > 1 ? await batchUnstuck(client, sent, "read") : await Promise.all(sent.map((one) => client.execute(one)));
      return results.map(({ rows }) => rows);
    },
    async write(writes) {
      await prepared();
      // all are sent together, so none can wait for the answer of another one
      const time = now();
      const parts = writes.map(({ whole, followUps }) => sendable([whole(), ...followUps(null)], time));
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

/** Statements with their time, and any number as one that a statement takes. */
function sendable(statements: readonly SqlStatement[], time: EpochMs | null): LibsqlStatement[] {
  return statements.map(({ text, values }) => {
    const args = [time, ...values].map((value) => {
      if (typeof value !== "number" || Number.isFinite(value)) return value;
      return value > 0 ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
    });
    return { sql: text, args };
  });
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
