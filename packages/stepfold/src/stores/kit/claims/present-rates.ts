import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { deadlineIn } from "../../../core/transition/draft/draft-status.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Rate } from "../../../core/values/shared-keys.ts";
import type { CheckedClaim } from "../checked-store.ts";
import type { ExecutionGuard } from "../execution-rows.ts";
import type { ExecutionTable } from "../execution-table.ts";
import type { ListedRow } from "../lists/list-table.ts";

/** The limit for executions whose workflow has no rate any more. */
export const unlimited: number = Number.POSITIVE_INFINITY;

/** The present rate of an execution, and how long the execution waits for it. */
export interface PresentRate {
  /** Null: there is none in the head, or the row is damaged. */
  readonly rate: Rate | null;
  /**
   * The time from which the execution does not wait for its rate any more, because it only ends: its deadline; 0 if its end is decided
   * already, for example by a cancellation of which it still has to tell its parent. Infinite if it has no deadline.
   */
  readonly waitsUntil: EpochMs;
}

/** Reads the present rates of executions; a deleted execution is missing. */
export async function presentRates(
  table: Pick<ExecutionTable, "heads">,
  guards: readonly ExecutionGuard[],
  { rates = {} }: Pick<CheckedClaim, "rates">,
): Promise<ReadonlyMap<string, PresentRate>> {
  const rows = guards.length > 0 ? await table.heads(guards.map(({ id }) => id)) : [];
  return new Map(
    rows.map((row) => {
      const { name, rate, waitsUntil } = startOf(row);
      const current = name !== null && Object.hasOwn(rates, name) ? rates[name]! : rate;
      return [row.id, { rate: rate && { ...rate, ...(current ?? { limit: unlimited }) }, waitsUntil }];
    }),
  );
}

type Start = PresentRate & { readonly name: string | null };

/** Reads the workflow and the rate of a row. A damaged row has neither: its claim is not limited, and its load reports the damage. */
function startOf({ definition, head }: ListedRow): Start {
  try {
    const { id } = JSON.parse(definition) as SnapshotHead["definition"];
    const { rate = null, unnamed, ...rest } = JSON.parse(head) as SnapshotHead;
    const isEnding = rest.ending !== undefined || rest.closing !== undefined || rest.activePaths.length === 0;
    return { name: unnamed ? null : id, rate, waitsUntil: isEnding ? 0 : deadlineIn(rest) };
  } catch {
    return { name: null, rate: null, waitsUntil: Number.POSITIVE_INFINITY };
  }
}
