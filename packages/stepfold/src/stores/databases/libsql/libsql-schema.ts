import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { sqliteLayout } from "../sqlite-dialect/sqlite-schema.ts";
import { type LibsqlClient, type LibsqlStatement, statement } from "./libsql-client.ts";
import { libsqlError, missingTables } from "./libsql-error.ts";

/**
 * Brings a database to the layout of this version, which is the one of `stepfold/stores/sqlite`. Any number of processes
 * may do so at once. A file is switched to WAL mode.
 *
 * ```ts
 * import { createClient } from "@libsql/client";
 * import { migrateLibsql } from "stepfold/stores/libsql";
 *
 * await migrateLibsql(createClient({ url: "file:workflows.db" }));
 * ```
 *
 * @throws StepfoldError `STORE_UNAVAILABLE` if it cannot be reached, `STORE_REJECTED` if a newer version made it
 */
export async function migrateLibsql(client: LibsqlClient): Promise<void> {
  try {
    await bringUp(client);
  } catch (cause) {
    throw libsqlError(cause);
  }
}

/** The SQL that makes the tables of a new database, for those who migrate by their own means. In one transaction, in this order. */
export function libsqlMigrations(): readonly string[] {
  return stepsFrom(0);
}

/** Makes sure that the layout is the one of this version. */
export async function checkLayout(client: LibsqlClient): Promise<void> {
  const layout = await layoutOf(client);
  if (layout === 0) throw rejected(missingTables);
  if (layout < sqliteLayout.length)
    throw rejected("the tables are of an older version: run `stepfold migrate --store libsql://...`, or call `migrateLibsql(client)`");
}

async function bringUp(client: LibsqlClient): Promise<void> {
  const from = await layoutOf(client);
  if (from === sqliteLayout.length) return;
  // readers and the writer then do not wait for one another
  if (client.protocol === "file") await client.execute(plain("PRAGMA journal_mode = WAL"));
  try {
    await client.batch(stepsFrom(from).map(plain), "write");
  } catch (cause) {
    // somebody else was faster
    if ((await layoutOf(client)) !== sqliteLayout.length) throw cause;
  }
}

function stepsFrom(layout: number): string[] {
  return [...sqliteLayout.slice(layout).flat(), `PRAGMA user_version = ${sqliteLayout.length}`];
}

async function layoutOf(client: LibsqlClient): Promise<number> {
  const { rows } = await client.execute(plain("PRAGMA user_version"));
  const layout = Number(rows[0]?.user_version ?? 0);
  if (layout <= sqliteLayout.length) return layout;
  throw rejected(`the database has layout ${layout}, this version of Stepfold knows up to ${sqliteLayout.length}. Update Stepfold`);
}

function plain(sql: string): LibsqlStatement {
  return statement(sql)();
}

function rejected(reason: string): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store: "libsql", reason });
}
