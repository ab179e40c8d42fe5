import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { layoutProblem, sqliteLayout, sqliteSchema } from "../sqlite-dialect/sqlite-schema.ts";
import type { LibsqlClient, LibsqlStatement } from "./libsql-client.ts";
import { libsqlError, missingTables } from "./libsql-error.ts";

/**
 * Makes the tables of a new database, which are those of `stepfold/stores/sqlite`. Any number of processes may do so at once. A file is switched to WAL mode.
 *
 * ```ts
 * import { createClient } from "@libsql/client";
 * import { migrateLibsql } from "stepfold/stores/libsql";
 *
 * await migrateLibsql(createClient({ url: "file:workflows.db" }));
 * ```
 *
 * @throws StepfoldError `STORE_UNAVAILABLE` if it cannot be reached, `STORE_REJECTED` if another version of Stepfold made it
 */
export async function migrateLibsql(client: LibsqlClient): Promise<void> {
  try {
    await makeTables(client);
  } catch (cause) {
    throw libsqlError(cause);
  }
}

/** The SQL that makes the tables of a new database, for those who migrate by their own means. In one transaction, in this order. */
export function libsqlMigrations(): readonly string[] {
  return [...sqliteSchema, `PRAGMA user_version = ${sqliteLayout}`];
}

/** Makes sure that the tables are there. */
export async function checkLayout(client: LibsqlClient): Promise<void> {
  if ((await layoutOf(client)) === 0) throw rejected(missingTables);
}

async function makeTables(client: LibsqlClient): Promise<void> {
  if ((await layoutOf(client)) === sqliteLayout) return;
  // readers and the writer then do not wait for one another
  if (client.protocol === "file") await client.execute(plain("PRAGMA journal_mode = WAL"));
  try {
    await client.batch(libsqlMigrations().map(plain), "write");
  } catch (cause) {
    // another process was faster
    if ((await layoutOf(client)) !== sqliteLayout) throw cause;
  }
}

async function layoutOf(client: LibsqlClient): Promise<number> {
  const { rows } = await client.execute(plain("PRAGMA user_version"));
  const layout = Number(rows[0]?.user_version ?? 0);
  const problem = layoutProblem(layout);
  if (problem) throw rejected(`the database cannot be used: ${problem}`);
  return layout;
}

function plain(sql: string): LibsqlStatement {
  return { sql, args: [] };
}

function rejected(reason: string): StepfoldError {
  return new StepfoldError("STORE_REJECTED", { store: "libsql", reason });
}
