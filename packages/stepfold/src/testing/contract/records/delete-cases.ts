import type { Status } from "../../../core/snapshot/snapshot.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, present, rejectsWith } from "../../expectations.ts";
import { claimFree, dueIds, longLeaseMs } from "../claims/claiming.ts";

const open: readonly Status[] = ["active", "paused", "error"];

/** What `delete` promises, also about the id of the deleted execution, and what `close` promises. */
export const deleteCases: readonly ContractCase[] = [
  {
    name: "delete: an ended execution is gone with its history",
    async run({ store }) {
      const first = startCommit("a");
      await store.create(first);
      await store.commit(stepCommit(first, { status: "completed" }));
      await store.create(startCommit("b"));
      await store.delete("a");
      equal(await store.load("a"), null, "snapshot");
      equal(await store.events("a", -1, 10), [], "events");
      equal(
        (await store.list()).items.map(({ workflowId }) => workflowId),
        ["b"],
        "list",
      );
      equal((await store.events("b", -1, 10)).length, 1, "events of b");
    },
  },
  ...open.map(
    (status): ContractCase => ({
      name: `delete: one that is ${status} is refused and stays`,
      async run({ store }) {
        const first = startCommit("a", { status });
        await store.create(first);
        equal(await rejectsWith("EXECUTION_OPEN", () => store.delete("a")), { workflowId: "a", status }, "details");
        equal(await store.load("a"), snapshotAfter(first), "snapshot");
      },
    }),
  ),
  {
    name: "delete: an unknown id, or one deleted before, is not found",
    async run({ store }) {
      equal(await rejectsWith("WORKFLOW_NOT_FOUND", () => store.delete("nobody")), { workflowId: "nobody" }, "details");
      await store.create(startCommit("a", { status: "failed" }));
      await store.delete("a");
      await rejectsWith("WORKFLOW_NOT_FOUND", () => store.delete("a"));
    },
  },
  {
    name: "delete: the id stays taken for the retention, then it is free",
    async run({ store, advance, retentionMs }) {
      const first = startCommit("a", { status: "completed" });
      await store.create(first);
      await store.delete("a");
      const { workflowId, deletedAt } = await rejectsWith("WORKFLOW_EXISTS", () => store.create(startCommit("a")));
      equal(workflowId, "a", "workflowId");
      holds(Number.isInteger(present(deletedAt, "deletedAt")), `deletedAt is ${deletedAt}`);
      await rejectsWith("WORKFLOW_EXISTS", () => store.create(first));
      equal(await store.load("a"), null, "snapshot");
      await advance(retentionMs + 1);
      const again = startCommit("a");
      await store.create(again);
      equal(await store.load("a"), snapshotAfter(again), "snapshot");
      equal((await store.events("a", -1, 10)).length, 1, "events");
    },
  },
  {
    name: "delete: an id that was created again is another execution",
    async run({ store, advance, retentionMs }) {
      const old = startCommit("a");
      const ended = stepCommit(old, { status: "completed" });
      await store.create(old);
      const { claim } = await claimFree(store, "a");
      await store.commit(ended);
      await store.delete("a");
      await advance(retentionMs + 1);
      const again = startCommit("a");
      await store.create(again);
      await claimFree(store, "a", "worker", longLeaseMs);
      const details = await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(old)));
      equal(details.actual, null, "actual");
      await rejectsWith("VERSION_CONFLICT", () => store.commit(ended));
      await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(old, { fence: claim.fence })));
      await rejectsWith("FENCE_LOST", () => store.renew(claim));
      await store.release(claim, 0);
      equal(await dueIds(store), [], "due");
      equal(await store.load("a"), snapshotAfter(again), "snapshot");
    },
  },
  {
    name: "close: safe twice; what is called after it is refused",
    async run({ open: another }) {
      const store = await another();
      await store.close();
      await store.close();
      await rejectsWith("STORE_UNAVAILABLE", () => store.load("a"));
      await rejectsWith("STORE_UNAVAILABLE", () => store.create(startCommit("a")));
      await rejectsWith("STORE_UNAVAILABLE", () => store.commit(stepCommit(startCommit("a"))));
      await rejectsWith("STORE_UNAVAILABLE", () => store.list());
    },
  },
  {
    name: "close: what was issued before it is written",
    needs: "durable",
    async run({ open: another }) {
      const store = await another();
      const first = startCommit("a");
      const second = stepCommit(first);
      const writes = [store.create(first), store.commit(second)];
      await Promise.all([...writes, store.close()]);
      const reopened = await another();
      equal(await reopened.load("a"), snapshotAfter(first, second), "snapshot");
      await reopened.close();
    },
  },
];
