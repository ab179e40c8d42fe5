import type { ExecutionSummary } from "../../../ports/execution-list.ts";
import type { Claim, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "../broken-store.ts";

/** Mistakes in finding overdue executions. */
export const brokenOverdue: readonly BrokenStore[] = [
  {
    name: "claims what is due, overdue or not",
    caughtBy: "overdue: what is due now, so long after it was said",
    breaks: (store) => altered(store, { claim: ({ overdueMs: _, ...options }) => store.claim(options) }),
  },
  {
    name: "takes what is due now as due since 1970",
    caughtBy: "overdue: what a commit has made due, so long after that commit, however old the execution is",
    breaks: (store) => judging(store, ({ wakeAt, lease }, now) => now - (lease?.until ?? wakeAt ?? now)),
  },
  {
    name: "takes an execution as due since it was made",
    caughtBy: "overdue: what a commit has made due, so long after that commit, however old the execution is",
    breaks: (store) => judging(store, ({ createdAt }, now) => now - createdAt),
  },
  {
    name: "takes what waited for a time as due since its last commit",
    caughtBy: "overdue: what waits for a time, so long after that time",
    breaks: (store) => judging(store, ({ updatedAt, lease }, now) => now - (lease?.until ?? updatedAt)),
  },
  {
    name: "takes what a lease held as due since its last commit",
    caughtBy: "overdue: what a lease held, so long after it ended",
    breaks: (store) => judging(store, ({ updatedAt, wakeAt }, now) => now - Math.max(updatedAt, wakeAt ?? 0)),
  },
  {
    name: "never finds overdue what is due now",
    caughtBy: "overdue: what is due now, so long after it was said",
    breaks: (store) => judging(store, ({ wakeAt, lease }, now) => (lease ? now - lease.until : wakeAt ? now - wakeAt : 0)),
  },
  {
    name: "never finds overdue what a lease held",
    caughtBy: "overdue: what a lease held, so long after it ended",
    breaks: (store) => judging(store, ({ lease, updatedAt }, now) => (lease ? 0 : now - updatedAt)),
  },
  {
    name: "takes overdue what is held",
    caughtBy: "overdue: nothing that is held, however long it was due before",
    breaks: robbing,
  },
  {
    name: "ignores how overdue one must be that is asked for by its id",
    caughtBy: "overdue: what is due now, so long after it was said",
    breaks: (store) =>
      altered(store, { claim: (options) => store.claim(options.workflowId === undefined ? options : { ...options, overdueMs: 0 }) }),
  },
  {
    name: "takes any number for a time",
    caughtBy: "overdue: 0 is the same as nothing, and what is no time is refused",
    breaks: (store) =>
      altered(store, {
        claim: ({ overdueMs = 0, ...options }) =>
          store.claim({ ...options, overdueMs: Number.isFinite(overdueMs) ? Math.abs(overdueMs) : 0 }),
      }),
  },
];

/** Makes a store that claims due executions, and keeps those that are overdue by its own rule. */
function judging(store: SnapshotStore, dueForMs: (item: ExecutionSummary, now: number) => number): SnapshotStore {
  // The lease of an execution that is claimed and released again is lost, so it is kept here.
  const leases = new Map<string, ExecutionSummary["lease"]>();
  return altered(store, {
    async claim({ overdueMs = 0, ...options }) {
      if (overdueMs === 0) return store.claim(options);
      const { items } = await store.list({ limit: 1000 });
      const claimed: Claim[] = [];
      for (const item of items.toReversed()) {
        if (options.workflowId !== undefined && options.workflowId !== item.workflowId) continue;
        const [one] = claimed.length < options.limit ? await store.claim({ ...options, workflowId: item.workflowId, limit: 1 }) : [];
        if (!one) continue;
        const lease = item.lease ?? leases.get(item.workflowId) ?? null;
        leases.set(item.workflowId, lease);
        if (dueForMs({ ...item, lease }, one.claimedAt) >= overdueMs) claimed.push(one);
        else await store.release(one, one.version);
      }
      return claimed;
    },
  });
}

/** Makes a store that gives overdue executions to every caller, even if they are held. */
function robbing(store: SnapshotStore): SnapshotStore {
  const latest = new Map<string, Claim>();
  return altered(store, {
    async claim(options) {
      for (const claim of options.overdueMs ? latest.values() : []) await store.release(claim, claim.version);
      const { overdueMs: _, ...anyDue } = options;
      const claimed = await store.claim(anyDue);
      for (const one of claimed) latest.set(one.workflowId, one);
      return claimed;
    },
  });
}
