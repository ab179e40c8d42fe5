import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, rejectsWith } from "../../expectations.ts";
import { claimFree, createClaimed, dueIds, leaseMs } from "./claiming.ts";

/** What keeps a holder that was replaced from writing. */
export const fenceCases: readonly ContractCase[] = [
  {
    name: "fence: the holder commits",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      const second = stepCommit(first, { fence: claim.fence });
      const third = stepCommit(second, { fence: claim.fence, status: "paused" });
      await store.commit(second);
      await store.commit(third);
      equal(await store.load("a"), snapshotAfter(first, second, third), "snapshot");
    },
  },
  {
    name: "fence: a holder that was replaced is refused, and nothing is written",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      await advance(leaseMs + 1);
      const taken = await claimFree(store, "a", "other");
      equal(await rejectsWith("FENCE_LOST", () => store.commit(stepCommit(first, { fence: claim.fence }))), { workflowId: "a" }, "details");
      equal(await store.load("a"), snapshotAfter(first), "snapshot");
      await store.commit(stepCommit(first, { fence: taken.claim.fence }));
    },
  },
  {
    name: "fence: rises with every claim, also of the same owner",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      let fence = claim.fence;
      for (let count = 0; count < 3; count++) {
        await advance(leaseMs + 1);
        const again = await claimFree(store, "a", "worker");
        holds(again.claim.fence > fence, `fence ${again.claim.fence} after ${fence}`);
        await rejectsWith("FENCE_LOST", () => store.commit(stepCommit(first, { fence })));
        fence = again.claim.fence;
      }
    },
  },
  {
    // A database that falls back to an older state forgets claims. If fences rose one by one, it would give out the same fences again.
    name: "fence: rises by steps that differ",
    async run({ store }) {
      const steps: number[] = [];
      for (const id of ["a", "b", "c"]) {
        const { claim } = await createClaimed(store, id);
        await store.release(claim, 0);
        steps.push((await claimFree(store, id)).claim.fence - claim.fence);
      }
      holds(new Set(steps).size > 1, `three fences rose by ${steps[0]}`);
    },
  },
  {
    name: "fence: rises after the claim was given back",
    async run({ store }) {
      const { claim } = await createClaimed(store, "a");
      await store.release(claim, 0);
      const again = await claimFree(store, "a", "worker");
      holds(again.claim.fence > claim.fence, "the fence did not rise");
    },
  },
  {
    name: "fence: a lease that ran out still commits while nobody else has claimed",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      await advance(leaseMs + 1);
      await store.commit(stepCommit(first, { fence: claim.fence }));
      equal(await dueIds(store), ["a"], "due after the lease");
    },
  },
  {
    name: "fence: a claim that was given back commits no more",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      await store.release(claim, 0);
      await rejectsWith("FENCE_LOST", () => store.commit(stepCommit(first, { fence: claim.fence })));
      equal(await store.load("a"), snapshotAfter(first), "snapshot");
    },
  },
  {
    name: "fence: one that was never given out is refused",
    async run({ store }) {
      const first = startCommit("a");
      await store.create(first);
      for (const fence of [0, 1, 7]) await rejectsWith("FENCE_LOST", () => store.commit(stepCommit(first, { fence })));
    },
  },
  {
    name: "fence: who replaced the holder wins even with the same version",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      await advance(leaseMs + 1);
      const { claim: taken } = await claimFree(store, "a", "other");
      const [zombie, owner] = await Promise.allSettled([
        store.commit(stepCommit(first, { fence: claim.fence, output: "zombie" })),
        store.commit(stepCommit(first, { fence: taken.fence, output: "owner" })),
      ]);
      equal([zombie.status, owner.status], ["rejected", "fulfilled"], "verdicts");
    },
  },
  {
    name: "fence: a commit of the replaced holder that was applied before is still acknowledged",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      const second = stepCommit(first, { fence: claim.fence });
      await store.commit(second);
      await advance(leaseMs + 1);
      await claimFree(store, "a", "other");
      await store.commit(second);
      equal((await store.load("a"))?.version, 1, "version");
    },
  },
  {
    name: "fence: a commit of somebody else, without a fence, leaves the holder its claim",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      const second = stepCommit(first, { wakeAt: 0 });
      await store.commit(second);
      equal(await dueIds(store), [], "due");
      const details = await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(first, { fence: claim.fence })));
      equal(details.actual, 1, "actual");
      await store.commit(stepCommit(second, { fence: claim.fence }));
    },
  },
  {
    name: "fence: an end ends the claim",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      const second = stepCommit(first, { status: "cancelled" });
      await store.commit(second);
      await rejectsWith("FENCE_LOST", () => store.commit(stepCommit(first, { fence: claim.fence })));
      await advance(leaseMs + 1);
      equal(await dueIds(store), [], "due");
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
    },
  },
];
