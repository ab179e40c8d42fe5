import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { hasTables, sqliteSchema } from "../sqlite-dialect/sqlite-schema.ts";
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
    if (await isMigrated(client)) return;
    // readers and the writer then do not wait for one another
    if (client.protocol === "file") await client.execute(plain("PRAGMA journal_mode = WAL"));
    await client.batch(sqliteSchema.map(plain), "write").catch(async (cause: unknown) => {
      // another process was faster
      if (!(await isMigrated(client))) throw cause;
    });
  } catch (cause) {
    throw libsqlError(cause);
  }
}

/** The SQL that makes the tables of a new database, for those who migrate by their own means. In one transaction, in this order. */
export function libsqlMigrations(): readonly string[] {
  return sqliteSchema;
}

/** Makes sure that the tables are there. */
export async function checkLayout(client: LibsqlClient): Promise<void> {
  if (!(await isMigrated(client))) throw new StepfoldError("STORE_REJECTED", { store: "libsql", reason: missingTables });
}

async function isMigrated(client: LibsqlClient): Promise<boolean> {
  return hasTables("libsql", "database", (await client.execute(plain("PRAGMA user_version"))).rows[0]);
}

function plain(sql: string): LibsqlStatement {
  return { sql, args: [] };
}
