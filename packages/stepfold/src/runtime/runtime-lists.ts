import { countExecutions, endedSeries, findSummaries } from "../ports/list-fallbacks.ts";
import type { SnapshotStore } from "../ports/snapshot-store.ts";
import { prune } from "./retention/prune.ts";
import type { Runtime } from "./runtime.ts";

/** The methods of a runtime that list, count or delete executions in its store. @param requireOpen throws once the runtime is closed */
export function runtimeLists(
  store: SnapshotStore,
  requireOpen: (action: string) => void,
): Pick<Runtime, "list" | "count" | "summaries" | "ended" | "workers" | "definitions" | "prune"> {
  return {
    list: async (query) => store.list(query),
    count: async (query, atMost) => countExecutions(store, query, atMost),
    summaries: async (workflowIds) => findSummaries(store, workflowIds),
    ended: async (query) => endedSeries(store, query),
    workers: async () => (await store.workers?.()) ?? [],
    definitions: async (query) => (await store.listDefinitions?.(query)) ?? [],
    async prune(which) {
      requireOpen("prune");
      return prune(store, which);
    },
  };
}
