import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { SeriesQuery } from "../../../ports/execution-counts.ts";
import type { CountQuery } from "../../../ports/execution-list.ts";
import { keptKeysThrough } from "../../../ports/kept-keys.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import type { DefinitionQuery } from "../../../ports/store-definitions.ts";
import type { WorkerBeat } from "../../../ports/store-workers.ts";
import type { Machine } from "./machine.ts";
import type { Network, ServiceFaults } from "./network.ts";

/** The store as one process sees it: every call takes time, some calls fail with `STORE_UNAVAILABLE`, and some are never answered. */
export function remoteStore(store: SnapshotStore, network: Network, machine: Machine): SnapshotStore {
  const { name, features } = store;
  const kinds: ServiceFaults = {
    before: "storeErrorBefore",
    after: "storeErrorAfter",
    slow: "storeSlow",
    hang: "storeHang",
    error: (reason) => new StepfoldError("STORE_UNAVAILABLE", { store: name, reason }),
  };
  const call = <T>(serve: () => Promise<T>): Promise<T> => network.call(machine, kinds, serve);
  return {
    name,
    features,
    create: (commit, options) => call(() => store.create(commit, options)),
    load: (workflowId) => call(() => store.load(workflowId)),
    loadHead: (workflowId) => call(() => store.loadHead(workflowId)),
    commit: (commit) => call(() => store.commit(commit)),
    claim: (options) => call(() => store.claim(options)),
    renew: (claim) => call(() => store.renew(claim)),
    release: (claim, version) => call(() => store.release(claim, version)),
    now: () => call(() => store.now()),
    events: (workflowId, afterVersion, limit) => call(() => store.events(workflowId, afterVersion, limit)),
    list: (query) => call(() => store.list(query)),
    ...(store.count && { count: (query?: CountQuery, atMost?: number) => call(() => store.count!(query, atMost)) }),
    ...(store.summaries && { summaries: (ids: readonly string[]) => call(() => store.summaries!(ids)) }),
    ...(store.ended && { ended: (query: SeriesQuery) => call(() => store.ended!(query)) }),
    ...(store.beat && { beat: (beat: WorkerBeat) => call(() => store.beat!(beat)) }),
    ...(store.workers && { workers: () => call(() => store.workers!()) }),
    delete: (workflowId) => call(() => store.delete(workflowId)),
    prune: (options) => call(() => store.prune(options)),
    trim: (options) => call(() => store.trim(options)),
    putDefinition: (hash, definition, options) => call(() => store.putDefinition(hash, definition, options)),
    getDefinition: (hash) => call(() => store.getDefinition(hash)),
    ...(store.listDefinitions && { listDefinitions: (query?: DefinitionQuery) => call(() => store.listDefinitions!(query)) }),
    ...(store.label && {
      label: (id: string, hash: string | null, expected: string | null) => call(() => store.label!(id, hash, expected)),
    }),
    ...(store.labels && { labels: (ids: readonly string[]) => call(() => store.labels!(ids)) }),
    ...(store.keptKeys && { keptKeys: keptKeysThrough(store.keptKeys, call) }),
    close: async () => undefined,
  };
}
