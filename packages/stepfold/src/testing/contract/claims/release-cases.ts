import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, rejectsWith } from "../../expectations.ts";
import { claimFree, createClaimed, dueIds, leaseMs } from "./claiming.ts";

/** What releasing a claim promises, by `release` and by a commit with `release`. */
export const releaseCases: readonly ContractCase[] = [
  {
    name: "release: what is due is free at once",
    async run({ store }) {
      const { claim } = await createClaimed(store, "a");
      await store.release(claim, 0);
      equal(await dueIds(store), ["a"], "due");
    },
  },
  {
    name: "release: what waits is due when it wakes",
    async run({ store, advance }) {
      const now = await store.now();
      const { first, claim } = await createClaimed(store, "a");
      await store.commit(stepCommit(first, { fence: claim.fence, status: "paused", wakeAt: now + 2 * leaseMs }));
      await store.release(claim, 1);
      equal(await dueIds(store), [], "at once");
      await advance(leaseMs + 1);
      equal(await dueIds(store), [], "after the lease");
      await advance(leaseMs);
      equal(await dueIds(store), ["a"], "when it wakes");
    },
  },
  {
    name: "release: what waits for ever is not due",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      await store.commit(stepCommit(first, { fence: claim.fence, status: "paused" }));
      await store.release(claim, 1);
      await advance(leaseMs + 1);
      equal(await dueIds(store), [], "due");
    },
  },
  {
    name: "release: refused if somebody committed meanwhile, and the claim stays",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      const second = stepCommit(first, { output: "foreign" });
      await store.commit(second);
      equal(await rejectsWith("VERSION_CONFLICT", () => store.release(claim, 0)), { workflowId: "a", expected: 0, actual: 1 }, "details");
      equal(await dueIds(store), [], "due");
      await store.commit(stepCommit(second, { fence: claim.fence, status: "paused" }));
      await store.release(claim, 2);
      equal(await dueIds(store), [], "due in the end");
    },
  },
  {
    name: "release: twice is safe",
    async run({ store }) {
      const { claim } = await createClaimed(store, "a");
      await store.release(claim, 0);
      await store.release(claim, 0);
      await store.release(claim, 7);
      equal(await dueIds(store), ["a"], "due");
    },
  },
  {
    name: "release: by a holder that was replaced changes nothing",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      await advance(leaseMs + 1);
      const taken = await claimFree(store, "a", "worker");
      await store.release(claim, 0);
      equal(await dueIds(store), [], "due");
      await store.commit(stepCommit(first, { fence: taken.claim.fence }));
    },
  },
  {
    name: "release: of what is gone or ended changes nothing",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      await store.commit(stepCommit(first, { status: "cancelled" }));
      await store.release(claim, 0);
      equal(await dueIds(store), [], "due");
      await store.release({ ...claim, workflowId: "nobody" }, 0);
    },
  },
  {
    name: "release: in the same write as a commit",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      const second = stepCommit(first, { fence: claim.fence, release: true });
      await store.commit(second);
      const taken = await claimFree(store, "a", "other");
      equal(taken.snapshot, snapshotAfter(first, second), "snapshot");
      await rejectsWith("FENCE_LOST", () => store.commit(stepCommit(second, { fence: claim.fence })));
    },
  },
  {
    name: "release: in the same write as a commit that waits",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      const second = stepCommit(first, { fence: claim.fence, release: true, status: "paused" });
      await store.commit(second);
      await advance(leaseMs + 1);
      equal(await dueIds(store), [], "due");
      await store.commit(stepCommit(second, { wakeAt: 0 }));
      equal(await dueIds(store), ["a"], "due after a resume");
    },
  },
  {
    name: "release: a refused commit releases nothing",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      const second = stepCommit(first);
      await store.commit(second);
      await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(first, { fence: claim.fence, release: true })));
      equal(await dueIds(store), [], "due");
      await store.commit(stepCommit(second, { fence: claim.fence }));
    },
  },
  {
    name: "release: only the holder's commit gives its claim back",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      const second = stepCommit(first, { release: true });
      await store.commit(second);
      equal(await dueIds(store), [], "due");
      await store.commit(stepCommit(second, { fence: claim.fence }));
    },
  },
  {
    name: "release: right after a commit that nobody waited for",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      const committed = store.commit(stepCommit(first, { fence: claim.fence, status: "paused" }));
      const released = store.release(claim, 1);
      await Promise.all([committed, released]);
      equal((await store.load("a"))?.version, 1, "version");
      await store.create(startCommit("b"));
      equal(await dueIds(store), ["b"], "due");
    },
  },
];
