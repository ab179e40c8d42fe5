import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { hasTables, sqliteSchema } from "../sqlite-dialect/sqlite-schema.ts";
import type { LibsqlClient, LibsqlStatement } from "./libsql-client.ts";
import { libsqlError, missingTables } from "./libsql-error.ts";

/**
 * Creates the tables of a new database, which are those of `stepfold/stores/sqlite`, and switches a file to WAL mode. Any number of
 * processes may call this at the same time.
 *
 * ```ts
 * import { createClient } from "@libsql/client";
 * import { migrateLibsql } from "stepfold/stores/libsql";
 *
 * await migrateLibsql(createClient({ url: "file:workflows.db" }));
 * ```
 *
 * @throws StepfoldError `STORE_UNAVAILABLE` if the database cannot be reached, `STORE_REJECTED` if another version of Stepfold made it
 */
export async function migrateLibsql(client: LibsqlClient): Promise<void> {
  try {
    if (await isMigrated(client)) return;
    // in WAL mode, readers and the writer do not wait for one another
    if (client.protocol === "file") await client.execute(plain("PRAGMA journal_mode = WAL"));
    await client.batch(sqliteSchema.map(plain), "write").catch(async (cause: unknown) => {
      // another process may have created the tables first
      if (!(await isMigrated(client))) throw cause;
    });
  } catch (cause) {
    throw libsqlError(cause);
  }
}

/** Returns the SQL that creates the tables, for users who run their own migrations: in one transaction and in this order. */
export function libsqlMigrations(): readonly string[] {
  return sqliteSchema;
}

/** Checks that the tables exist. @throws StepfoldError `STORE_REJECTED` if not */
export async function checkLayout(client: LibsqlClient): Promise<void> {
  if (!(await isMigrated(client))) throw new StepfoldError("STORE_REJECTED", { store: "libsql", reason: missingTables });
}

async function isMigrated(client: LibsqlClient): Promise<boolean> {
  return hasTables("libsql", "database", (await client.execute(plain("PRAGMA user_version"))).rows[0]);
}

function plain(sql: string): LibsqlStatement {
  return { sql, args: [] };
}
