import type { Snapshot } from "../../../core/snapshot/snapshot.ts";
import type { KeptKeys, KeyOwner } from "../../../ports/kept-keys.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { isRedirect } from "./redirect.ts";
import type { Tiers } from "./tiers.ts";

/**
 * The older idempotency keys of executions in two tiers; undefined unless both stores have such keys. They are written where the execution
 * lives, and a move copies them. They are read in both stores, because the execution may move at this moment.
 */
export function keysOfTiers({ hot, cold }: Tiers): KeptKeys | undefined {
  const [inHot, inCold] = [hot.keptKeys, cold.keptKeys];
  if (!inHot || !inCold) return undefined;
  const livesInHot = async ({ workflowId, incarnation }: KeyOwner): Promise<boolean> => {
    const head = await hot.loadHead(workflowId);
    return head?.incarnation === incarnation && !isRedirect(head);
  };
  return {
    put: async (owner, day, keys) => ((await livesInHot(owner)) ? inHot : inCold).put(owner, day, keys),
    async find(owner, days, name) {
      const [found, copied] = [await inHot.find(owner, days, name), await inCold.find(owner, days, name)];
      return found === null || (copied !== null && copied > found) ? copied : found;
    },
    async all(owner, day) {
      const versions = new Map<string, number>();
      for (const { name, version } of [...(await inHot.all(owner, day)), ...(await inCold.all(owner, day))])
        versions.set(name, Math.max(version, versions.get(name) ?? 0));
      return Array.from(versions, ([name, version]) => ({ name, version }));
    },
    async drop(owner, days) {
      await inHot.drop(owner, days);
      await inCold.drop(owner, days);
    },
  };
}

/** Copies the older keys of an execution to the store to which it moves. The deletion of the original deletes the originals. */
export async function copyKeys(from: SnapshotStore, to: SnapshotStore, { workflowId, incarnation = "", keyRows }: Snapshot): Promise<void> {
  if (!from.keptKeys || !to.keptKeys) return;
  const owner = { workflowId, incarnation };
  for (const day of keyRows?.days ?? []) {
    const keys = await from.keptKeys.all(owner, day);
    if (keys.length > 0) await to.keptKeys.put(owner, day, keys);
  }
}
