import { must, type OptionCheck, requireMethods } from "../../../core/values/check-arguments.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import { onceReady } from "../../kit/once-ready.ts";
import { type BatchStatement, batchSession } from "../sqlite-dialect/batch-session.ts";
import type { SqliteSession } from "../sqlite-dialect/statement.ts";
import type { LibsqlClient, LibsqlResult, LibsqlStatement } from "./libsql-client.ts";
import { checkLayout, migrateLibsql } from "./libsql-schema.ts";

/** The check of the option `migrate`. */
export const aMigration: OptionCheck = must('be true, false or "auto"', (value) => value === "auto" || typeof value === "boolean");

/**
 * Returns a session over a client.
 *
 * @param migrate whether the first call creates the tables or only checks that they exist; if that fails, the next call tries again.
 *   `"auto"`: the tables of a file are created, those of a server are checked
 * @param now returns the time; null: the database's clock is used. Default: the database's clock
 */
export function libsqlSession(client: LibsqlClient, migrate: boolean | "auto", now: () => EpochMs | null = () => null): SqliteSession {
  requireMethods("client", client, "a client of @libsql/client", ["execute", "batch"]);
  const makesTables = migrate === "auto" ? client.protocol === "file" : migrate;
  const send = async (statements: BatchStatement[], mode: "read" | "write"): Promise<LibsqlResult["rows"][]> => {
    const isAlone = mode === "read" && statements.length === 1;
    const results = isAlone ? [await client.execute(statements[0]!)] : await batchUnstuck(client, statements, mode);
    return results.map(({ rows }) => rows);
  };
  return batchSession({ ready: onceReady(() => (makesTables ? migrateLibsql(client) : checkLayout(client))), send, now });
}

/**
 * Sends a batch, and sends it again over a new connection if the driver's connection is stuck. After a file was locked, the driver keeps
 * the statement that was refused until it is garbage-collected, and until then no transaction on that connection can end.
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
