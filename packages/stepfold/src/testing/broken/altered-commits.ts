import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { ChangedChild, Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { altered } from "./broken-store.ts";

/** Makes a store that writes other commits than it is given. */
export function writingInstead(store: SnapshotStore, change: (commit: Commit) => Commit): SnapshotStore {
  return altered(store, {
    create: (commit, options) => store.create(change(commit), options),
    commit: (commit) => store.commit(change(commit)),
  });
}

/** Makes a store that loads other snapshots than it holds. */
export function showing(store: SnapshotStore, change: (snapshot: Snapshot) => Snapshot): SnapshotStore {
  return altered(store, {
    async load(workflowId) {
      const snapshot = await store.load(workflowId);
      return snapshot && change(snapshot);
    },
  });
}

/** Returns the snapshot with these changes of its children, in this order. */
export function withChildren(snapshot: Snapshot, changes: readonly ChangedChild[]): Snapshot {
  const { childStates, ...rest } = snapshot;
  const states = new Map(Object.entries(childStates ?? {}));
  for (const { key, head } of changes) {
    if (head) states.set(key, { ...head, context: states.get(key)?.context ?? {} });
    else states.delete(key);
  }
  return states.size === 0 ? rest : { ...rest, childStates: Object.fromEntries(states) };
}
