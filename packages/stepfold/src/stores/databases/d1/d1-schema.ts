import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { hasTables, layoutByName, sqliteSchemaByName } from "../sqlite-dialect/sqlite-schema.ts";
import { workerdError } from "../sqlite-dialect/workerd.ts";
import type { D1Client } from "./d1-client.ts";

const missingTables = "the tables are missing: call `migrateD1(env.DB)`, or apply `d1Migrations()` when you deploy";

/** Converts an error of D1 into a `StepfoldError`. */
export const d1Error = (cause: unknown): StepfoldError => workerdError("d1", cause, missingTables);

/** Databases whose tables are known to exist. A worker opens a store for each request, and need not check them each time. */
const migrated = new WeakSet<D1Client>();

/**
 * Creates the tables of a new database. Any number of workers may call this at once. If the tables exist, a call is a short query at most.
 *
 * ```typescript
 * import { migrateD1 } from "stepfold/stores/d1";
 *
 * await migrateD1(env.DB);
 * ```
 *
 * @throws StepfoldError `STORE_UNAVAILABLE` if the database cannot be reached, `STORE_REJECTED` if another version of Stepfold made it
 */
export async function migrateD1(database: D1Client): Promise<void> {
  try {
    if (await isMigrated(database)) return;
    await database.batch(sqliteSchemaByName.map((sql) => database.prepare(sql))).catch(async (cause: unknown) => {
      // another worker may have created the tables first
      if (!(await isMigrated(database))) throw cause;
    });
  } catch (cause) {
    throw d1Error(cause);
  }
}

/** Returns the SQL that creates the tables, for a migration of wrangler. Keep the order, and end each statement with `;`. */
export function d1Migrations(): readonly string[] {
  return sqliteSchemaByName;
}

/** Checks that the tables exist. @throws StepfoldError `STORE_REJECTED` if not */
export async function checkLayout(database: D1Client): Promise<void> {
  if (!(await isMigrated(database))) throw new StepfoldError("STORE_REJECTED", { store: "d1", reason: missingTables });
}

async function isMigrated(database: D1Client): Promise<boolean> {
  if (migrated.has(database)) return true;
  const isMade = hasTables("d1", "database", (await database.prepare(layoutByName).all()).results[0]);
  if (isMade) migrated.add(database);
  return isMade;
}
