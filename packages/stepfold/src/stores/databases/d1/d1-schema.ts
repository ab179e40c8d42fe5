import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { hasTables, layoutByName, sqliteSchemaByName } from "../sqlite-dialect/sqlite-schema.ts";
import { workerdError } from "../sqlite-dialect/workerd.ts";
import type { D1Client } from "./d1-client.ts";

const missingTables = "the tables are missing: call `migrateD1(env.DB)`, or apply `d1Migrations()` when you deploy";

/** What went wrong in D1, as one of our errors. */
export const d1Error = (cause: unknown): StepfoldError => workerdError("d1", cause, missingTables);

/** Databases whose tables were seen: a worker opens a store for each request, and need not ask again. */
const migrated = new WeakSet<D1Client>();

/**
 * Makes the tables of a new database. Any number of workers may do so at once; once they are there it is one short query.
 *
 * ```typescript
 * import { migrateD1 } from "stepfold/stores/d1";
 *
 * await migrateD1(env.DB);
 * ```
 *
 * @throws StepfoldError `STORE_UNAVAILABLE` if it cannot be reached, `STORE_REJECTED` if another version of Stepfold made it
 */
export async function migrateD1(database: D1Client): Promise<void> {
  try {
    if (await isMigrated(database)) return;
    await database.batch(sqliteSchemaByName.map((sql) => database.prepare(sql))).catch(async (cause: unknown) => {
      // another worker was faster
      if (!(await isMigrated(database))) throw cause;
    });
  } catch (cause) {
    throw d1Error(cause);
  }
}

/** The SQL that makes the tables of a new database, for a migration of wrangler: each statement ended by `;`, in this order. */
export function d1Migrations(): readonly string[] {
  return sqliteSchemaByName;
}

/** Makes sure that the tables are there. */
export async function checkLayout(database: D1Client): Promise<void> {
  if (!(await isMigrated(database))) throw new StepfoldError("STORE_REJECTED", { store: "d1", reason: missingTables });
}

async function isMigrated(database: D1Client): Promise<boolean> {
  if (migrated.has(database)) return true;
  const isMade = hasTables("d1", "database", (await database.prepare(layoutByName).all()).results[0]);
  if (isMade) migrated.add(database);
  return isMade;
}
