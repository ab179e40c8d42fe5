import type { Claim, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { altered } from "../broken-store.ts";

/** Makes a store that remembers the latest claim of each execution. */
export function remembering(store: SnapshotStore): { readonly latest: Map<string, Claim>; readonly store: SnapshotStore } {
  const latest = new Map<string, Claim>();
  const remembered = altered(store, {
    async create(commit, options) {
      const claim = await store.create(commit, options);
      if (claim) latest.set(claim.workflowId, claim);
      return claim;
    },
    async claim(options) {
      const claimed = await store.claim(options);
      for (const claim of claimed) latest.set(claim.workflowId, claim);
      return claimed;
    },
  });
  return { latest, store: remembered };
}
