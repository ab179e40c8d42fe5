import type { EpochMs } from "../../../core/values/json.ts";
import { onceReady } from "../../kit/once-ready.ts";
import { type BatchStatement, batchSession } from "../sqlite-dialect/batch-session.ts";
import type { SqliteSession } from "../sqlite-dialect/statement.ts";
import type { LibsqlClient, LibsqlResult, LibsqlStatement } from "./libsql-client.ts";
import { checkLayout, migrateLibsql } from "./libsql-schema.ts";

/**
 * Sends statements over a client.
 *
 * @param migrate whether the tables are made before the first call, or only looked for; both are tried again if they failed
 * @param now what gives the time. Default: the database's clock
 */
export function libsqlSession(client: LibsqlClient, migrate: boolean | "auto", now: () => EpochMs | null = () => null): SqliteSession {
  const makesTables = migrate === "auto" ? client.protocol === "file" : migrate;
  const send = async (statements: BatchStatement[], mode: "read" | "write"): Promise<LibsqlResult["rows"][]> => {
    const isAlone = mode === "read" && statements.length === 1;
    const results = isAlone ? [await client.execute(statements[0]!)] : await batchUnstuck(client, statements, mode);
    return results.map(({ rows }) => rows);
  };
  return batchSession({ ready: onceReady(() => (makesTables ? migrateLibsql(client) : checkLayout(client))), send, now });
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
