import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { checkSchema } from "./checked-schema.ts";
import { readLayout } from "./layout.ts";
import { latestLayout, layoutSteps } from "./migrations.ts";
import type { PostgresClient } from "./postgres-client.ts";
import { storeError } from "./postgres-error.ts";

/**
 * Brings a schema to today's layout, from whatever it is or from nothing. Nothing happens if it is there already.
 *
 * Any number of processes may do so at once: one works while the others wait. All of it happens, or nothing. The user
 * needs the right to create in the database (or in the schema, if that is there).
 *
 * ```ts
 * import { migratePostgres } from "stepfold/stores/postgres";
 *
 * await migratePostgres(pool, { schema: "stepfold" });
 * ```
 *
 * @throws StepfoldError `STORE_REJECTED` if the schema was made by a newer version of Stepfold
 * @throws StepfoldError `STORE_UNAVAILABLE` if the database does not answer
 */
export async function migratePostgres(client: PostgresClient, { schema = "stepfold" }: { readonly schema?: string } = {}): Promise<void> {
  checkSchema(schema);
  try {
    await client.query(migration(schema), []);
    await readLayout(client, schema);
  } catch (cause) {
    throw StepfoldError.is(cause) ? cause : storeError(cause);
  }
}

/** One statement, because a client may give us another connection for the next. Each step in it sees what was committed before it began. */
function migration(schema: string): string {
  const steps = layoutSteps(schema).map(
    (step, index) => `IF stepfold_layout < ${index + 1} THEN EXECUTE $stepfold_step$${step}$stepfold_step$; END IF;`,
  );
  return `DO $stepfold$
DECLARE stepfold_layout integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('stepfold ${schema}', 0));
  IF to_regclass('"${schema}".layouts') IS NOT NULL THEN
    EXECUTE 'SELECT coalesce(max(number), 0) FROM "${schema}".layouts' INTO stepfold_layout;
  END IF;
  IF stepfold_layout >= ${latestLayout} THEN RETURN; END IF;
  IF to_regnamespace('"${schema}"') IS NULL THEN CREATE SCHEMA "${schema}"; END IF;
  ${steps.join("\n  ")}
END $stepfold$`;
}
