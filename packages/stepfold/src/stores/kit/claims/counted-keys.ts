import type { ExecutionGuard } from "../execution-rows.ts";
import type { ExecutionTable } from "../execution-table.ts";
import { partitionOf } from "./partitions.ts";
import { presentRates } from "./present-rates.ts";
import { isRateKey, rateKeyOf } from "./rate-key.ts";

/**
 * Returns the keys of all records that may count these executions: of their permits and rates. A row with a concurrency key does not name the
 * line of its rate, so the head of such an execution is read. So this is asked before the executions are deleted.
 */
export async function countedKeys(table: Pick<ExecutionTable, "heads">, guards: readonly ExecutionGuard[]): Promise<readonly string[]> {
  const keyOf = ({ permit }: ExecutionGuard): string | null => partitionOf(permit?.key).key;
  const named = guards.filter((guard) => keyOf(guard) !== null && !isRateKey(keyOf(guard)!));
  // an execution that cannot be read can be deleted all the same: then the record of its rate stays
  const rates = await presentRates(table, named, {}).catch(() => null);
  const ofRates = [...(rates?.values() ?? [])].flatMap(({ rate }) => (rate ? rateKeyOf(rate) : []));
  return [...new Set([...guards.flatMap((guard) => keyOf(guard) ?? []), ...ofRates])];
}
