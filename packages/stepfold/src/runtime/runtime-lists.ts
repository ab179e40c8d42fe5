import { countExecutions, endedSeries, findSummaries } from "../ports/list-fallbacks.ts";
import type { SnapshotStore } from "../ports/snapshot-store.ts";
import type { Runtime } from "./runtime.ts";

/** What a runtime finds in its store. */
export function runtimeLists(store: SnapshotStore): Pick<Runtime, "list" | "count" | "summaries" | "ended"> {
  return {
    list: async (query) => store.list(query),
    count: async (query, atMost) => countExecutions(store, query, atMost),
    summaries: async (workflowIds) => findSummaries(store, workflowIds),
    ended: async (query) => endedSeries(store, query),
  };
}
