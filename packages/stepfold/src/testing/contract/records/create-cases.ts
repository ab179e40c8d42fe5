import { snapshotAfter, startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal, holds, present, rejectsWith } from "../../expectations.ts";
import { claimFree, createClaimed, dueIds, leaseMs, longLeaseMs } from "../claims/claiming.ts";

/** What `create` promises. */
export const createCases: readonly ContractCase[] = [
  {
    name: "create: what was stored is loaded",
    async run({ store }) {
      const first = startCommit("a", { input: { order: 7 }, metadata: { customer: "ann" } });
      equal(await store.create(first), null, "claim");
      equal(await store.load("a"), snapshotAfter(first), "snapshot");
    },
  },
  {
    name: "create: an id that is taken is refused, and what is there stays",
    async run({ store }) {
      const first = startCommit("a", { input: 1 });
      await store.create(first);
      const details = await rejectsWith("WORKFLOW_EXISTS", () => store.create(startCommit("a", { input: 2 })));
      equal(details.workflowId, "a", "workflowId");
      equal(details.deletedAt, undefined, "deletedAt");
      equal(await store.load("a"), snapshotAfter(first), "snapshot");
    },
  },
  {
    name: "create: several events at once",
    async run({ store }) {
      const first = startCommit("a");
      const second = stepCommit(first, { outputs: [1, 2] });
      await store.create({ ...second, expectedVersion: -1, commitId: first.commitId, events: [...first.events, ...second.events] });
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
      equal((await store.events("a", -1, 10)).length, 3, "events");
    },
  },
  {
    name: "create: with a claim, it is held from the start",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a", longLeaseMs);
      equal(
        claim,
        {
          workflowId: "a",
          incarnation: first.incarnation,
          ...{ version: 0, sizeBytes: first.head.sizeBytes },
          owner: "worker",
          leaseMs: longLeaseMs,
          ...{ fence: claim.fence, claimedAt: claim.claimedAt, expired: 0, crashes: 0 },
        },
        "claim",
      );
      equal(await dueIds(store), [], "due");
      await store.commit(stepCommit(first, { fence: claim.fence }));
    },
  },
  {
    name: "create: an execution that ends at once is not claimed",
    async run({ store }) {
      equal(await store.create(startCommit("a", { status: "completed" }), { claim: { owner: "worker", leaseMs } }), null, "claim");
      equal(await dueIds(store), [], "due");
    },
  },
  {
    name: "create: the claim's lease ends by the store's clock",
    async run({ store, advance }) {
      const { claim } = await createClaimed(store, "a");
      await advance(leaseMs + 1);
      const taken = await claimFree(store, "a", "other");
      holds(taken.claim.fence > claim.fence, "the fence did not rise");
    },
  },
  {
    name: "create: the same commit again is acknowledged",
    async run({ store }) {
      const first = startCommit("a");
      await store.create(first);
      equal(await store.create(first), null, "claim");
      equal((await store.events("a", -1, 10)).length, 1, "events");
    },
  },
  {
    name: "create: the same commit again is acknowledged after others followed",
    async run({ store }) {
      const first = startCommit("a");
      const second = stepCommit(first);
      await store.create(first);
      await store.commit(second);
      await store.create(first);
      equal(await store.load("a"), snapshotAfter(first, second), "snapshot");
    },
  },
  {
    name: "create: the same commit again gives the claim that is still held",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      await advance(5);
      const again = await store.create(first, { claim: { owner: "worker", leaseMs } });
      equal(present(again, "claim"), claim, "claim");
    },
  },
  {
    name: "create: the same commit again gives no claim that another holds",
    async run({ store, advance }) {
      const { first } = await createClaimed(store, "a");
      await advance(leaseMs + 1);
      await claimFree(store, "a", "other");
      equal(await store.create(first, { claim: { owner: "worker", leaseMs } }), null, "claim");
    },
  },
  {
    name: "create and claim: a lease must be a whole number of milliseconds, at least 1",
    async run({ store }) {
      for (const bad of [0, -1, 1.5, Number.NaN]) {
        await rejectsWith("OPTION_INVALID", () => store.create(startCommit("a"), { claim: { owner: "worker", leaseMs: bad } }));
        await rejectsWith("OPTION_INVALID", () => store.claim({ owner: "worker", leaseMs: bad, limit: 1 }));
      }
      equal(await store.load("a"), null, "snapshot");
    },
  },
];
