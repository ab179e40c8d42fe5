import type { Claim } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase, StoreBench } from "../../contract-case.ts";
import { equal, present, rejectsWith } from "../../expectations.ts";
import { claimFree, createClaimed, shortLeaseMs as leaseMs } from "./claiming.ts";

/** What a claim says about earlier claims whose holders were lost. */
export const crashCases: readonly ContractCase[] = [
  {
    name: "crashes: one for each claim in a row that ran out",
    async run(bench) {
      const claims = [(await createClaimed(bench.store, "a", leaseMs)).claim];
      for (const workflowId of [undefined, "a", undefined]) {
        await bench.advance(leaseMs + 1);
        const [taken] = await bench.store.claim({ owner: "other", leaseMs, limit: 10, ...(workflowId && { workflowId }) });
        claims.push(present(taken, "a claim").claim);
      }
      equal(claims.map(crashesOf), [0, 1, 2, 3], "crashes");
    },
  },
  {
    name: "crashes: each execution has its own",
    async run(bench) {
      await createClaimed(bench.store, "a", leaseMs);
      await bench.advance(leaseMs + 1);
      await bench.store.create(startCommit("b"));
      const claimed = await bench.store.claim({ owner: "other", leaseMs, limit: 10 });
      const crashes = new Map(claimed.map(({ claim }) => [claim.workflowId, crashesOf(claim)]));
      equal([crashes.get("a"), crashes.get("b")], [1, 0], "crashes");
    },
  },
  {
    name: "crashes: a claim that was given back is none, and leaves those before it",
    async run({ store, advance }) {
      const { claim } = await createClaimed(store, "a", leaseMs);
      await store.release(claim, 0);
      const second = await claimFree(store, "a", "worker", leaseMs);
      equal(crashesOf(second.claim), 0, "crashes after it was given back");
      await advance(leaseMs + 1);
      const third = await claimFree(store, "a", "other", leaseMs);
      await store.release(third.claim, 0);
      equal(
        [crashesOf(third.claim), crashesOf((await claimFree(store, "a", "worker", leaseMs)).claim)],
        [1, 1],
        "crashes after it ran out",
      );
    },
  },
  {
    name: "crashes: a commit of the holder sets them to 0",
    async run(bench) {
      const { store, advance } = bench;
      const { first, claim } = await crashedTwice(bench);
      const second = stepCommit(first, { fence: claim.fence });
      await store.commit(second);
      await advance(leaseMs + 1);
      const again = await claimFree(store, "a", "worker", leaseMs);
      equal(crashesOf(again.claim), 1, "crashes when the holder was lost after it");
      await store.commit(stepCommit(second, { fence: again.claim.fence, release: true }));
      equal(crashesOf((await claimFree(store, "a", "worker", leaseMs)).claim), 0, "crashes after a commit that gave it back");
    },
  },
  {
    name: "crashes: a commit of the holder that changes its status sets them to 0",
    async run(bench) {
      const { store } = bench;
      const { first, claim } = await crashedTwice(bench);
      await store.commit(stepCommit(first, { fence: claim.fence, status: "paused", wakeAt: 0 }));
      await store.release(claim, 1);
      equal(crashesOf((await claimFree(store, "a", "worker", leaseMs)).claim), 0, "crashes");
    },
  },
  {
    name: "crashes: a commit of somebody else leaves them",
    async run(bench) {
      const { store, advance } = bench;
      const { first, claim } = await crashedTwice(bench);
      const second = stepCommit(first, { output: "foreign" });
      await store.commit(second);
      await advance(leaseMs + 1);
      const again = await claimFree(store, "a", "worker", leaseMs);
      equal([crashesOf(claim), crashesOf(again.claim)], [2, 3], "crashes");
      await store.release(again.claim, 1);
      await store.commit(stepCommit(second, { status: "paused", wakeAt: 0 }));
      equal(crashesOf((await claimFree(store, "a", "worker", leaseMs)).claim), 3, "crashes after one while nobody held it");
    },
  },
  {
    name: "crashes: a commit that was refused leaves them",
    async run(bench) {
      const { store } = bench;
      const { first, lost, claim } = await crashedTwice(bench);
      await store.commit(stepCommit(first, { output: "foreign" }));
      await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(first, { fence: claim.fence })));
      await rejectsWith("FENCE_LOST", () => store.commit(stepCommit(first, { fence: lost.fence })));
      await store.release(claim, 1);
      equal(crashesOf((await claimFree(store, "a", "worker", leaseMs)).claim), 2, "crashes");
    },
  },
  {
    name: "crashes: a commit of a lost holder that was applied before it was replaced leaves those since",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a", leaseMs);
      const second = stepCommit(first, { fence: claim.fence });
      await store.commit(second);
      await advance(leaseMs + 1);
      const taken = await claimFree(store, "a", "other", leaseMs);
      // its acknowledgement was lost: sent again, it is acknowledged, but not applied
      await store.commit(second);
      await store.release(taken.claim, 1);
      equal(crashesOf((await claimFree(store, "a", "worker", leaseMs)).claim), 1, "crashes");
    },
  },
  {
    name: "crashes: a renewal leaves them",
    async run(bench) {
      const { store, advance } = bench;
      const { claim } = await crashedTwice(bench);
      await store.renew(claim);
      await advance(leaseMs + 1);
      equal(crashesOf((await claimFree(store, "a", "worker", leaseMs)).claim), 3, "crashes");
    },
  },
];

/** An execution whose first two holders were lost, and the claims of the second and the third. */
async function crashedTwice({ store, advance }: StoreBench): Promise<{ first: ReturnType<typeof startCommit>; lost: Claim; claim: Claim }> {
  const { first } = await createClaimed(store, "a", leaseMs);
  await advance(leaseMs + 1);
  const { claim: lost } = await claimFree(store, "a", "second", leaseMs);
  await advance(leaseMs + 1);
  const { claim } = await claimFree(store, "a", "third", leaseMs);
  return { first, lost, claim };
}

const crashesOf = ({ crashes }: Claim): number | undefined => crashes;
