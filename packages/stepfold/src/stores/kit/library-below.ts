import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import type { DefinitionLibrary } from "../../ports/store-definitions.ts";

/** What another store knows about its definitions, for a store over it. */
export function libraryBelow(inner: SnapshotStore): Partial<DefinitionLibrary> {
  if (!inner.features.definitions) return {};
  return {
    listDefinitions: (query) => inner.listDefinitions!(query),
    label: (id, hash, expected) => inner.label!(id, hash, expected),
    labels: (ids) => inner.labels!(ids),
  };
}
