import type { EpochMs } from "../core/values/json.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

/**
 * Returns the name of the process that runs an execution now: the holder of its claim, while the lease lasts. Null: none, or the store does
 * not tell (`features.lists`).
 *
 * @param now the time by the store's clock
 */
export async function holderOf(store: Pick<SnapshotStore, "summaries">, workflowId: string, now: EpochMs): Promise<string | null> {
  const [found] = (await store.summaries?.([workflowId])) ?? [];
  return found?.lease && found.lease.until > now ? found.lease.owner : null;
}
