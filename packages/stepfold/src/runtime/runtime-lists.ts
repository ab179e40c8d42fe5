import { endedSeries } from "../ports/list-fallbacks.ts";
import type { SnapshotStore } from "../ports/snapshot-store.ts";
import { prune } from "./retention/prune.ts";
import type { Runtime } from "./runtime.ts";

/** The methods of a runtime that are about its whole store. @param requireOpen throws once the runtime is closed */
export function runtimeLists(
  store: SnapshotStore,
  requireOpen: (action: string) => void,
): Pick<Runtime, "ended" | "workers" | "definitions" | "prune"> {
  return {
    ended: async (query) => endedSeries(store, query),
    workers: async () => (await store.workers?.()) ?? [],
    definitions: async (query) => (await store.listDefinitions?.(query)) ?? [],
    async prune(which) {
      requireOpen("prune");
      return prune(store, which);
    },
  };
}
