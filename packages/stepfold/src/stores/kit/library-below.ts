import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { DefinitionLibrary } from "../../ports/store-definitions.ts";

/** Returns the library methods of the inner store, for a store that wraps it. Empty if the inner store has none. */
export function libraryBelow(inner: SnapshotStore): Partial<DefinitionLibrary> {
  if (!inner.features.definitions) return {};
  return {
    listDefinitions: (query) => inner.listDefinitions!(query),
    label: (id, hash, expected) => inner.label!(id, hash, expected),
    labels: (ids) => inner.labels!(ids),
  };
}
