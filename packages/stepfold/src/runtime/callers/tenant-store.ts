import { isOfTenant } from "../../core/values/ids/tenant.ts";
import type { CountQuery } from "../../ports/execution-list.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/**
 * Returns a store that shows only the executions of one tenant. Every other one is as if it did not exist. The tenant is in the head that is
 * read anyway, and never changes; so a commit at the version that was read is a commit to an execution of the tenant.
 *
 * Claims, definitions and times are those of the whole store.
 */
export function tenantStore(store: SnapshotStore, tenant: string): SnapshotStore {
  const own = <T extends { readonly tenant?: string }>(found: T | null): T | null => (found?.tenant === tenant ? found : null);
  // only executions of the tenant get such an id
  const isOwn = async (workflowId: string): Promise<boolean> =>
    isOfTenant(tenant, workflowId) || own(await store.loadHead(workflowId)) !== null;
  return {
    ...store,
    load: async (workflowId) => own(await store.load(workflowId)),
    loadHead: async (workflowId) => own(await store.loadHead(workflowId)),
    events: async (workflowId, afterVersion, limit) => ((await isOwn(workflowId)) ? store.events(workflowId, afterVersion, limit) : []),
    list: (query = {}) => store.list({ ...query, tenant }),
    ...(store.count && { count: (query: CountQuery = {}, atMost?: number) => store.count!({ ...query, tenant }, atMost) }),
    ...(store.summaries && {
      summaries: async (ids: readonly string[]) => (await store.summaries!(ids)).filter((summary) => own(summary) !== null),
    }),
  };
}
