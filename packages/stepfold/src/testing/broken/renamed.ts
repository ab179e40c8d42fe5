import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Claim, SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered } from "./broken-store.ts";

/** Makes a store that keeps executions under other ids. `letGo` gives an id a new inner id, which hides the execution that has it. */
export function renamed(store: SnapshotStore): { readonly store: SnapshotStore; readonly letGo: (workflowId: string) => void } {
  const generations = new Map<string, number>();
  const inside = (id: string): string => (generations.has(id) ? `${id}\u0001${generations.get(id)}` : id);
  const outside = (id: string): string => id.split("\u0001")[0]!;
  const seen = (snapshot: Snapshot): Snapshot => ({ ...snapshot, workflowId: outside(snapshot.workflowId) });
  const given = <C extends { readonly workflowId: string }>(value: C): C => ({ ...value, workflowId: inside(value.workflowId) });
  const claimSeen = (claim: Claim): Claim => ({ ...claim, workflowId: outside(claim.workflowId) });

  return {
    letGo: (workflowId) => generations.set(workflowId, (generations.get(workflowId) ?? 0) + 1),
    store: altered(store, {
      async create(commit, options) {
        const claim = await store.create({ ...given(commit), head: given(commit.head) }, options);
        return claim && claimSeen(claim);
      },
      async load(workflowId) {
        const snapshot = await store.load(inside(workflowId));
        return snapshot && seen(snapshot);
      },
      commit: (commit) => store.commit({ ...given(commit), head: given(commit.head) }),
      async claim(options) {
        const { workflowId } = options;
        const claimed = await store.claim(workflowId === undefined ? options : { ...options, workflowId: inside(workflowId) });
        return claimed.map(claimSeen);
      },
      renew: (claim) => store.renew(given(claim)),
      release: (claim, version) => store.release(given(claim), version),
      events: (workflowId, afterVersion, limit) => store.events(inside(workflowId), afterVersion, limit),
      delete: (workflowId) => store.delete(inside(workflowId)),
    }),
  };
}
