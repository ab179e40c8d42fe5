import type { Claim } from "../../../ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../commit-builder.ts";
import type { ContractCase, StoreBench } from "../../contract-case.ts";
import { equal, present, rejectsWith } from "../../expectations.ts";
import { claimFree, createClaimed, shortLeaseMs as leaseMs } from "./claiming.ts";

/**
 * What a claim says about earlier claims that ran out. `expired` counts all of them since the last commit of a holder.
 * `crashes` counts only those whose holders had begun; the first `renew` of a holder says that it has begun.
 */
export const crashCases: readonly ContractCase[] = [
  {
    name: "expired: counts the claims that ran out one after the other",
    async run(bench) {
      const claims = [(await createClaimed(bench.store, "a", leaseMs)).claim];
      // Claims of any execution and claims by id count alike.
      for (const workflowId of [undefined, "a", undefined]) {
        await bench.advance(leaseMs + 1);
        const [taken] = await bench.store.claim({ owner: "other", leaseMs, limit: 10, ...(workflowId && { workflowId }) });
        claims.push(present(taken, "a claim"));
      }
      equal(claims.map(expiredOf), [0, 1, 2, 3], "expired");
    },
  },
  {
    name: "expired: is counted for each execution alone",
    async run(bench) {
      await createClaimed(bench.store, "a", leaseMs);
      await bench.advance(leaseMs + 1);
      await bench.store.create(startCommit("b"));
      const claimed = await bench.store.claim({ owner: "other", leaseMs, limit: 10 });
      const expired = new Map(claimed.map((claim) => [claim.workflowId, expiredOf(claim)]));
      equal([expired.get("a"), expired.get("b")], [1, 0], "expired");
    },
  },
  {
    name: "expired: a claim that was given back is not counted, and leaves the count as it was",
    async run({ store, advance }) {
      const { claim } = await createClaimed(store, "a", leaseMs);
      await store.release(claim, 0);
      const second = await claimFree(store, "a", "worker", leaseMs);
      equal(expiredOf(second.claim), 0, "expired after it was given back");
      await advance(leaseMs + 1);
      const third = await claimFree(store, "a", "other", leaseMs);
      await store.release(third.claim, 0);
      equal(
        [expiredOf(third.claim), expiredOf((await claimFree(store, "a", "worker", leaseMs)).claim)],
        [1, 1],
        "expired after it ran out",
      );
    },
  },
  {
    name: "expired: a commit of the holder sets the count to 0",
    async run(bench) {
      const { store, advance } = bench;
      const { first, claim } = await lostTwice(bench);
      const second = stepCommit(first, { fence: claim.fence });
      await store.commit(second);
      await advance(leaseMs + 1);
      const again = await claimFree(store, "a", "worker", leaseMs);
      equal(expiredOf(again.claim), 1, "expired when the holder was lost after it");
      await store.commit(stepCommit(second, { fence: again.claim.fence, release: true }));
      equal(expiredOf((await claimFree(store, "a", "worker", leaseMs)).claim), 0, "expired after a commit that gave it back");
    },
  },
  {
    name: "expired: a commit of the holder that changes the status sets the count to 0",
    async run(bench) {
      const { store } = bench;
      const { first, claim } = await lostTwice(bench);
      await store.commit(stepCommit(first, { fence: claim.fence, status: "paused", wakeAt: 0 }));
      // `release` stores the counts of the claim that it is given. After a
      // commit a holder must pass counts of 0 (see `SnapshotStore.renew`).
      await store.release({ ...claim, expired: 0, crashes: 0 }, 1);
      equal(expiredOf((await claimFree(store, "a", "worker", leaseMs)).claim), 0, "expired");
    },
  },
  {
    name: "expired: a commit of somebody else leaves the count as it was",
    async run(bench) {
      const { store, advance } = bench;
      const { first, claim } = await lostTwice(bench);
      const second = stepCommit(first, { output: "foreign" });
      await store.commit(second);
      await advance(leaseMs + 1);
      const again = await claimFree(store, "a", "worker", leaseMs);
      equal([expiredOf(claim), expiredOf(again.claim)], [2, 3], "expired");
      await store.release(again.claim, 1);
      await store.commit(stepCommit(second, { status: "paused", wakeAt: 0 }));
      equal(expiredOf((await claimFree(store, "a", "worker", leaseMs)).claim), 3, "expired after one while nobody held it");
    },
  },
  {
    name: "expired: a commit that was refused leaves the count as it was",
    async run(bench) {
      const { store } = bench;
      const { first, lost, claim } = await lostTwice(bench);
      await store.commit(stepCommit(first, { output: "foreign" }));
      await rejectsWith("VERSION_CONFLICT", () => store.commit(stepCommit(first, { fence: claim.fence })));
      await rejectsWith("FENCE_LOST", () => store.commit(stepCommit(first, { fence: lost.fence })));
      await store.release(claim, 1);
      equal(expiredOf((await claimFree(store, "a", "worker", leaseMs)).claim), 2, "expired");
    },
  },
  {
    name: "expired: a lost holder's commit that is sent again after the next claim leaves the count as it was",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a", leaseMs);
      const second = stepCommit(first, { fence: claim.fence });
      await store.commit(second);
      await advance(leaseMs + 1);
      const taken = await claimFree(store, "a", "other", leaseMs);
      // The first holder did not get the acknowledgement, so it sends the
      // commit again. The store acknowledges it without applying it again.
      await store.commit(second);
      await store.release(taken.claim, 1);
      equal(expiredOf((await claimFree(store, "a", "worker", leaseMs)).claim), 1, "expired");
    },
  },
  {
    name: "expired: a renewal leaves the count as it was",
    async run(bench) {
      const { store, advance } = bench;
      const { claim } = await lostTwice(bench);
      await store.renew(claim);
      await advance(leaseMs + 1);
      equal(expiredOf((await claimFree(store, "a", "worker", leaseMs)).claim), 3, "expired");
    },
  },
  {
    name: "crashes: counts the claims that ran out after their holder had begun",
    async run({ store, advance }) {
      let { claim } = await createClaimed(store, "a", leaseMs);
      const seen: (readonly [number, number])[] = [];
      for (const holderBegins of [false, true, true, false, true]) {
        if (holderBegins) await store.renew(claim);
        await advance(leaseMs + 1);
        ({ claim } = await claimFree(store, "a", "other", leaseMs));
        seen.push([claim.expired, claim.crashes]);
      }
      equal(
        seen,
        [
          [1, 0],
          [2, 1],
          [3, 2],
          [4, 2],
          [5, 3],
        ],
        "expired and crashes",
      );
    },
  },
  {
    name: "crashes: a claim that was given back is not counted, though its holder had begun",
    async run({ store, advance }) {
      const { claim } = await createClaimed(store, "a", leaseMs);
      await store.renew(claim);
      await advance(leaseMs + 1);
      const second = await claimFree(store, "a", "other", leaseMs);
      await store.renew(second.claim);
      await store.release(second.claim, 0);
      const { claim: third } = await claimFree(store, "a", "worker", leaseMs);
      equal([third.expired, third.crashes], [1, 1], "expired and crashes");
    },
  },
  {
    name: "crashes: a commit of the holder sets the count to 0",
    async run({ store, advance }) {
      const { first, claim } = await createClaimed(store, "a", leaseMs);
      await store.renew(claim);
      await advance(leaseMs + 1);
      const second = await claimFree(store, "a", "other", leaseMs);
      await store.renew(second.claim);
      await store.commit(stepCommit(first, { fence: second.claim.fence }));
      await advance(leaseMs + 1);
      const { claim: third } = await claimFree(store, "a", "worker", leaseMs);
      equal([third.expired, third.crashes], [1, 0], "expired and crashes");
    },
  },
  {
    name: "crashes: an execution whose holders were lost twice before they began is to be begun alone",
    async run({ store, advance }) {
      const ids = ["a", "b", "c"];
      for (const id of ids) await createClaimed(store, id, leaseMs);
      await advance(leaseMs + 1);
      const first = await store.claim({ owner: "other", leaseMs, limit: 10 });
      equal(first.map(isAlone), [false, false, false], "alone after the first loss");
      await advance(leaseMs + 1);
      const claimed = await store.claim({ owner: "worker", leaseMs: 60_000, limit: 10 });
      equal(claimed.map(({ workflowId }) => workflowId).sort(), ids, "claimed after the second one");
      equal(claimed.map(isAlone), [true, true, true], "alone after the second loss");
    },
  },
];

function expiredOf({ expired }: Claim): number {
  return expired;
}

function isAlone({ alone }: Claim): boolean {
  return alone === true;
}

/**
 * Creates execution "a" and lets the claims of its first two holders run out before they begin. `first` is the commit that
 * created it, `lost` is the claim of the second holder, and `claim` is that of the third holder, which is still in force.
 */
async function lostTwice({ store, advance }: StoreBench): Promise<{ first: ReturnType<typeof startCommit>; lost: Claim; claim: Claim }> {
  const { first } = await createClaimed(store, "a", leaseMs);
  await advance(leaseMs + 1);
  const { claim: lost } = await claimFree(store, "a", "second", leaseMs);
  await advance(leaseMs + 1);
  const { claim } = await claimFree(store, "a", "third", leaseMs);
  return { first, lost, claim };
}
