import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { Rate } from "../../../core/values/shared-keys.ts";
import type { CheckedClaim } from "../checked-store.ts";
import type { ExecutionGuard, ExecutionTable, ListedRow } from "../execution-table.ts";

/** The limit for executions whose workflow has no rate any more. */
export const unlimited: number = Number.POSITIVE_INFINITY;

/** Reads the present rates of executions: null if there is none in the head, or the row is damaged; a deleted execution is missing. */
export async function presentRates(
  table: Pick<ExecutionTable, "heads">,
  guards: readonly ExecutionGuard[],
  { rates = {} }: Pick<CheckedClaim, "rates">,
): Promise<ReadonlyMap<string, Rate | null>> {
  const rows = guards.length > 0 ? await table.heads(guards.map(({ id }) => id)) : [];
  return new Map(
    rows.map((row) => {
      const { name, rate } = startOf(row);
      const current = name !== null && Object.hasOwn(rates, name) ? rates[name]! : rate;
      return [row.id, rate && { ...rate, ...(current ?? { limit: unlimited }) }];
    }),
  );
}

/** Reads the workflow and the rate of a row. A damaged row has neither: its claim is not limited, and its load reports the damage. */
function startOf({ definition, head }: ListedRow): { readonly name: string | null; readonly rate: Rate | null } {
  try {
    const { id } = JSON.parse(definition) as SnapshotHead["definition"];
    const { rate = null, unnamed } = JSON.parse(head) as Pick<SnapshotHead, "rate" | "unnamed">;
    return { name: unnamed ? null : id, rate };
  } catch {
    return { name: null, rate: null };
  }
}
