import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { Permit } from "../../../core/values/shared-keys.ts";
import { namedQueue, rowPermit } from "./partitions.ts";
import { rateKeyOf } from "./rate-key.ts";

/** The permit of the row of an execution that no process has left to others: see `partitions.ts`. */
export function firstPermitOf({ taskQueue, permit, rate }: Pick<SnapshotHead, "taskQueue" | "permit" | "rate">): Permit | null {
  if (taskQueue === undefined && !rate) return permit ?? null;
  const key = permit?.key ?? (rate ? rateKeyOf(rate) : null);
  return rowPermit({ taskQueue: namedQueue(taskQueue), definition: null, key }, permit?.limit ?? rate?.limit);
}
