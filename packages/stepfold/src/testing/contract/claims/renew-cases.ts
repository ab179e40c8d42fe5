import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, rejectsWith } from "../../expectations.ts";
import { claimFree, createClaimed, dueIds, leaseMs } from "./claiming.ts";

/** What `renew` promises. */
export const renewCases: readonly ContractCase[] = [
  {
    name: "renew: the lease lasts from now on",
    async run({ store, advance }) {
      const { claim } = await createClaimed(store, "a");
      const before = (await store.renew(claim)).storeNow;
      for (let count = 0; count < 3; count++) {
        await advance(Math.floor(leaseMs / 2));
        equal(await dueIds(store), [], "due");
        const { version, status, storeNow } = await store.renew(claim);
        equal({ version, status }, { version: 0, status: "active" }, "answer");
        holds(storeNow > before, "storeNow does not move");
      }
      await advance(leaseMs + 1);
      equal(await dueIds(store), ["a"], "due after the lease");
    },
  },
  {
    name: "renew: a holder that was replaced is told so",
    async run({ store, advance }) {
      const { claim } = await createClaimed(store, "a");
      await advance(leaseMs + 1);
      const taken = await claimFree(store, "a", "worker");
      equal(await rejectsWith("FENCE_LOST", () => store.renew(claim)), { workflowId: "a" }, "details");
      await store.renew(taken.claim);
    },
  },
  {
    name: "renew: a lease that ran out is renewed while nobody else has claimed",
    async run({ store, advance }) {
      const { claim } = await createClaimed(store, "a");
      await advance(leaseMs + 1);
      await store.renew(claim);
      equal(await dueIds(store), [], "due");
    },
  },
  {
    name: "renew: a claim that was given back is lost",
    async run({ store }) {
      const { claim } = await createClaimed(store, "a");
      await store.release(claim, 0);
      await rejectsWith("FENCE_LOST", () => store.renew(claim));
      equal(await dueIds(store), ["a"], "due");
    },
  },
  {
    name: "renew: tells what others committed",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      await store.commit(stepCommit(first, { status: "paused" }));
      const { version, status } = await store.renew(claim);
      equal({ version, status }, { version: 1, status: "paused" }, "answer");
    },
  },
  {
    name: "renew: tells that it was cancelled",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      await store.commit(stepCommit(first, { status: "cancelled" }));
      const { version, status } = await store.renew(claim);
      equal({ version, status }, { version: 1, status: "cancelled" }, "answer");
      equal(await dueIds(store), [], "due");
    },
  },
  {
    name: "renew: an execution that is gone is lost",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      await store.commit(stepCommit(first, { status: "completed", fence: claim.fence }));
      await store.delete("a");
      await rejectsWith("FENCE_LOST", () => store.renew(claim));
      await rejectsWith("FENCE_LOST", () => store.renew({ ...claim, workflowId: "nobody" }));
    },
  },
  {
    name: "renew: the claim of another incarnation is lost",
    async run({ store }) {
      const { claim } = await createClaimed(store, "a");
      await rejectsWith("FENCE_LOST", () => store.renew({ ...claim, incarnation: "another" }));
      await store.create(startCommit("b"));
      await rejectsWith("FENCE_LOST", () => store.renew({ ...claim, workflowId: "b" }));
    },
  },
];
