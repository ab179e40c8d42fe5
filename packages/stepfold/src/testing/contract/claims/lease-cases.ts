import type { ExecutionSummary } from "../../../ports/execution-list.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase } from "../../contract-case.ts";
import { equal } from "../../expectations.ts";
import { claimFree, createClaimed, leaseMs, shortLeaseMs } from "./claiming.ts";

/** What `list` promises about the holder of an execution. */
export const leaseCases: readonly ContractCase[] = [
  {
    name: "lease: nobody's before it is claimed, and after it was given back",
    async run({ store }) {
      await store.create(startCommit("a"));
      equal(await leaseOf(store), null, "lease at first");
      const { claim, snapshot } = await claimFree(store, "a");
      await store.release(claim, 0);
      equal(await leaseOf(store), null, "lease after a release");
      const again = await claimFree(store, "a");
      await store.commit(stepCommit(snapshot, { fence: again.claim.fence, release: true }));
      equal(await leaseOf(store), null, "lease after a commit that gave it back");
    },
  },
  {
    name: "lease: who holds it and until when, from the first claim on",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a");
      equal(await leaseOf(store), { owner: "worker", until: claim.claimedAt + leaseMs, crashes: 0 }, "lease of create");
      await store.commit(stepCommit(first, { output: "foreign" }));
      await advance(20);
      const { storeNow } = await store.renew(claim);
      equal(await leaseOf(store), { owner: "worker", until: storeNow + leaseMs, crashes: 0 }, "lease after a renewal");
    },
  },
  {
    name: "lease: one that ran out is shown until another one takes it",
    async run({ store, advance }) {
      const { claim } = await createClaimed(store, "a", shortLeaseMs);
      const { storeNow } = await store.renew(claim);
      await advance(shortLeaseMs + 1);
      equal(await leaseOf(store), { owner: "worker", until: storeNow + shortLeaseMs, crashes: 0 }, "lease that ran out");
      const taken = await claimFree(store, "a", "other", shortLeaseMs);
      equal(await leaseOf(store), { owner: "other", until: taken.claim.claimedAt + shortLeaseMs, crashes: 1 }, "lease of another");
    },
  },
  {
    name: "lease: the crashes in it go with a commit of the holder",
    async run({ store, advance }) {
      const { first, claim: lost } = await createClaimed(store, "a", shortLeaseMs);
      await store.renew(lost);
      await advance(shortLeaseMs + 1);
      const { claim } = await claimFree(store, "a", "other", shortLeaseMs);
      const lease = { owner: "other", until: claim.claimedAt + shortLeaseMs };
      const second = stepCommit(first, { output: "foreign" });
      await store.commit(second);
      equal(await leaseOf(store), { ...lease, crashes: 1 }, "lease after a commit of somebody else");
      await store.commit(stepCommit(second, { fence: claim.fence }));
      equal(await leaseOf(store), { ...lease, crashes: 0 }, "lease after a commit of the holder");
    },
  },
  {
    name: "lease: nobody's once it has ended, whoever ended it",
    async run({ store }) {
      const { first, claim } = await createClaimed(store, "a");
      await store.commit(stepCommit(first, { status: "completed", fence: claim.fence }));
      equal(await leaseOf(store), null, "lease after the holder's commit");
      const other = await createClaimed(store, "b");
      await store.commit(stepCommit(other.first, { status: "cancelled" }));
      equal(await leaseOf(store), null, "lease after a cancel");
    },
  },
  {
    name: "lease: owners are only names, whatever they look like",
    async run({ store }) {
      for (const [index, owner] of ["'", '"', "null", "ä 😀", "a b", "%s"].entries()) {
        const id = `id-${index}`;
        await store.create(startCommit(id));
        const { claim } = await claimFree(store, id, owner);
        equal(await leaseOf(store), { owner, until: claim.claimedAt + leaseMs, crashes: 0 }, `lease of ${owner}`);
      }
    },
  },
];

/** Returns the lease of the newest execution. */
async function leaseOf(store: SnapshotStore): Promise<ExecutionSummary["lease"] | undefined> {
  return (await store.list({ limit: 1 })).items[0]?.lease;
}
