import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { latestLayout } from "./migrations.ts";
import type { PostgresClient } from "./postgres-client.ts";

/**
 * Makes sure that the tables are there and of the layout that this version knows.
 *
 * @throws StepfoldError `STORE_REJECTED` if not
 */
export async function readLayout(client: PostgresClient, schema: string): Promise<void> {
  const { rows } = await client.query(`SELECT max(number)::text AS layout FROM "${schema}".layouts`, []);
  const layout = Number((rows[0] as { layout: string | null }).layout ?? 0);
  if (layout < latestLayout) {
    const reason = `the tables have layout ${layout}, this version of Stepfold needs ${latestLayout}: run \`stepfold migrate --store URL\` or pass migrate: true`;
    throw new StepfoldError("STORE_REJECTED", { store: "postgres", reason });
  }
  if (layout > latestLayout) throw tooNew(layout);
}

/** The error for tables that a later version made. */
function tooNew(layout: number): StepfoldError {
  const reason = `the tables have layout ${layout}, this version of Stepfold knows up to ${latestLayout}. Update Stepfold`;
  return new StepfoldError("STORE_REJECTED", { store: "postgres", reason });
}
