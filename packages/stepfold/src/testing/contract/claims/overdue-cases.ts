import type { ClaimOptions, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, rejectsWith } from "../../expectations.ts";
import { claimFree, createClaimed, dueIds, leaseMs, longLeaseMs } from "./claiming.ts";

/** A time that is longer than the calls of a case, and short enough to wait for. */
const overdueMs = 1_000;

/** What `claim` promises about overdue executions. */
export const overdueCases: readonly ContractCase[] = [
  {
    name: "overdue: what is due now, so long after it was said",
    async run({ store, advance }) {
      await store.create(startCommit("a"));
      equal(await overdueIds(store), [], "at once");
      equal(await overdueIds(store, { workflowId: "a" }), [], "at once, by id");
      await advance(overdueMs + 1);
      equal(await overdueIds(store), ["a"], "later");
    },
  },
  {
    name: "overdue: by id, too",
    async run({ store, advance }) {
      await store.create(startCommit("a"));
      await store.create(startCommit("b"));
      await advance(overdueMs + 1);
      equal(await overdueIds(store, { workflowId: "b" }), ["b"], "by id");
      equal(await overdueIds(store), ["a"], "the rest");
    },
  },
  {
    name: "overdue: what a commit has made due, so long after that commit, however old the execution is",
    async run({ store, advance }) {
      const first = startCommit("a", { status: "paused", wakeAt: null });
      await store.create(first);
      await advance(overdueMs + 1);
      await store.commit(stepCommit(first, { wakeAt: 0 }));
      equal(await overdueIds(store), [], "at once");
      await advance(overdueMs + 1);
      equal(await overdueIds(store), ["a"], "later");
    },
  },
  {
    name: "overdue: what waits for a time, so long after that time",
    async run({ store, advance }) {
      const now = await store.now();
      await store.create(startCommit("a", { status: "paused", wakeAt: now + overdueMs }));
      await advance(overdueMs + 1);
      equal(await overdueIds(store), [], "when it came");
      equal(await overdueIds(store, { workflowId: "a" }), [], "when it came, by id");
      await advance(overdueMs);
      equal(await overdueIds(store), ["a"], "later");
    },
  },
  {
    name: "overdue: what a lease held, so long after it ended",
    async run({ store, advance }) {
      await createClaimed(store, "a");
      await advance(leaseMs + 1);
      equal(await overdueIds(store), [], "when it ended");
      await advance(overdueMs);
      equal(await overdueIds(store), ["a"], "later");
    },
  },
  {
    name: "overdue: nothing that is held, however long it was due before",
    async run({ store, advance }) {
      await store.create(startCommit("a"));
      await advance(overdueMs + 1);
      await claimFree(store, "a");
      equal(await overdueIds(store), [], "while it is held");
      equal(await overdueIds(store, { workflowId: "a" }), [], "while it is held, by id");
    },
  },
  {
    name: "overdue: as many as asked for, longest first, whatever has come since",
    async run({ store }) {
      // The executions have been due for minutes and are claimed for minutes, so it does not matter how long the calls of the case take.
      const longAgo = (await store.now()) - 600_000;
      const asked = { leaseMs: longLeaseMs, overdueMs: 300_000 };
      const atOnce = startCommit("d", { status: "paused", wakeAt: longAgo });
      await store.create(atOnce);
      // After this commit the execution is still due since `longAgo`.
      await store.commit(stepCommit(atOnce, { wakeAt: 0 }));
      for (const [index, id] of ["c", "a", "b"].entries()) await store.create(startCommit(id, { wakeAt: longAgo + 1 + index }));
      for (const id of ["e", "f"]) await store.create(startCommit(id));
      equal(await overdueIds(store, { ...asked, limit: 2 }), ["d", "c"], "two");
      equal(await overdueIds(store, { ...asked, limit: 1 }), ["a"], "one");
      equal(await overdueIds(store, asked), ["b"], "the rest");
      equal(await dueIds(store), ["e", "f"], "not overdue");
    },
  },
  {
    name: "overdue: what has ended or waits for ever never is",
    async run({ store, advance }) {
      await store.create(startCommit("a", { status: "completed" }));
      await store.create(startCommit("b", { status: "paused", wakeAt: null }));
      await advance(overdueMs + 1);
      equal(await overdueIds(store), [], "overdue");
    },
  },
  {
    name: "overdue: 0 is the same as nothing, and what is no time is refused",
    async run({ store }) {
      await store.create(startCommit("a"));
      for (const bad of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
        const details = await rejectsWith("OPTION_INVALID", () => store.claim({ owner: "sweeper", leaseMs, limit: 1, overdueMs: bad }));
        equal(details.option, "overdueMs", "option");
      }
      equal((await store.claim({ owner: "sweeper", leaseMs, limit: 1, overdueMs: 3_600_000.5 })).length, 0, "claimed after an hour");
      equal((await store.claim({ owner: "sweeper", leaseMs, limit: 1, overdueMs: 0 })).length, 1, "claimed at once");
    },
  },
];

async function overdueIds(
  store: SnapshotStore,
  options: Partial<Pick<ClaimOptions, "workflowId" | "limit" | "leaseMs" | "overdueMs">> = {},
): Promise<string[]> {
  const claimed = await store.claim({ owner: "sweeper", leaseMs, limit: 100, overdueMs, ...options });
  return claimed.map(({ workflowId }) => workflowId);
}
