import type { ExecutionSummary } from "../../../ports/execution-list.ts";
import type { Claim, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { startCommit } from "../../commit-builder.ts";
import { altered, type BrokenStore } from "../broken-store.ts";
import { countingCrashes } from "./counted-crashes.ts";
import { remembering } from "./remembered-claims.ts";

const byHolder = ({ fence }: Commit): boolean => fence !== undefined;

/** Mistakes in counting lost holders, and in showing who holds an execution. */
export const brokenCrashes: readonly BrokenStore[] = [
  {
    name: "never counts claims that ran out",
    caughtBy: "expired: counts the claims that ran out one after the other",
    breaks: (store) =>
      altered(store, {
        claim: async (options) => (await store.claim(options)).map((claim) => ({ ...claim, expired: 0 })),
      }),
  },
  {
    name: "counts the claims of an execution as those that ran out",
    caughtBy: "expired: a claim that was given back is not counted, and leaves the count as it was",
    breaks: (store) => countingCrashes(store, { resets: (commit, applied) => applied && byHolder(commit), countsReleases: true }),
  },
  {
    name: "forgets claims that ran out when somebody else commits",
    caughtBy: "expired: a commit of somebody else leaves the count as it was",
    breaks: (store) => countingCrashes(store, { resets: (_, applied) => applied }),
  },
  {
    name: "forgets claims that ran out when the holder's commit was refused",
    caughtBy: "expired: a commit that was refused leaves the count as it was",
    breaks: (store) => countingCrashes(store, { resets: byHolder }),
  },
  {
    name: "never forgets claims that ran out",
    caughtBy: "expired: a commit of the holder sets the count to 0",
    breaks: (store) => countingCrashes(store, { resets: () => false }),
  },
  {
    name: "forgets claims that ran out only by commits that leave the status as it is",
    caughtBy: "expired: a commit of the holder that changes the status sets the count to 0",
    breaks: (store) =>
      countingCrashes(store, { resets: (commit, applied) => applied && byHolder(commit) && commit.head.status === "active" }),
  },
  {
    name: "forgets claims that ran out when a lost holder's commit comes again",
    caughtBy: "expired: a lost holder's commit that is sent again after the next claim leaves the count as it was",
    breaks: (store) => countingCrashes(store, { resets: byHolder }),
  },
  {
    name: "forgets claims that ran out when the claim is renewed",
    caughtBy: "expired: a renewal leaves the count as it was",
    breaks: (store) => countingCrashes(store, { resets: (commit, applied) => applied && byHolder(commit), renewalResets: true }),
  },
  {
    name: "counts claims that never began as crashes",
    caughtBy: "crashes: counts the claims that ran out after their holder had begun",
    breaks: (store) =>
      altered(store, {
        claim: async (options) => (await store.claim(options)).map((claim) => ({ ...claim, crashes: claim.expired })),
      }),
  },
  {
    name: "never counts crashes",
    caughtBy: "crashes: counts the claims that ran out after their holder had begun",
    breaks: (store) =>
      altered(store, {
        claim: async (options) => (await store.claim(options)).map((claim) => ({ ...claim, crashes: 0 })),
      }),
  },
  {
    name: "counts a claim that was given back as a crash",
    caughtBy: "crashes: a claim that was given back is not counted, though its holder had begun",
    breaks: (store) => altered(store, { release: (claim, version) => store.release({ ...claim, crashes: claim.crashes + 1 }, version) }),
  },
  {
    name: "shows a lease that was given back",
    caughtBy: "lease: nobody's before it is claimed, and after it was given back",
    breaks: (store) => showingLeases(store, (lease, claim, ended) => lease ?? (claim && !ended ? leaseOf(claim) : null)),
  },
  {
    name: "shows the lease of what has ended",
    caughtBy: "lease: nobody's once it has ended, whoever ended it",
    breaks: (store) => showingLeases(store, (lease, claim, ended) => lease ?? (claim && ended ? leaseOf(claim) : null)),
  },
  {
    name: "shows no lease",
    caughtBy: "lease: who holds it and until when, from the first claim on",
    breaks: (store) => showingLeases(store, () => null),
  },
  {
    name: "shows the lease as it was claimed, though it was renewed",
    caughtBy: "lease: who holds it and until when, from the first claim on",
    breaks: (store) => showingLeases(store, (lease, claim) => lease && claim && leaseOf(claim)),
  },
  {
    name: "hides a lease that ran out",
    caughtBy: "lease: one that ran out is shown until another one takes it",
    breaks: hidingOldLeases,
  },
  {
    name: "shows the crashes as they were when it was claimed",
    caughtBy: "lease: the crashes in it go with a commit of the holder",
    breaks: (store) => showingLeases(store, (lease, claim) => lease && { ...lease, crashes: claim?.crashes ?? 0 }),
  },
];

type ShownLease = NonNullable<ExecutionSummary["lease"]>;

const leaseOf = ({ owner, claimedAt, leaseMs, crashes }: Claim): ShownLease => ({ owner, until: claimedAt + leaseMs, crashes });

/** Makes a store that shows other leases in lists; `claim` is the latest claim of the execution. */
function showingLeases(
  store: SnapshotStore,
  shown: (lease: ShownLease | null, claim: Claim | null, ended: boolean) => ShownLease | null,
): SnapshotStore {
  const { latest, store: remembered } = remembering(store);
  return altered(remembered, {
    async list(query) {
      const page = await store.list(query);
      const items = page.items.map((item) => {
        const ended = !["active", "paused", "error"].includes(item.status);
        return { ...item, lease: shown(item.lease, latest.get(item.workflowId) ?? null, ended) };
      });
      return { ...page, items };
    },
  });
}

function hidingOldLeases(store: SnapshotStore): SnapshotStore {
  let now = 0;
  const seen = showingLeases(store, (lease) => (lease && lease.until > now ? lease : null));
  return altered(seen, {
    async list(query) {
      // A claim on another execution shows the store's time.
      const clock = await store.create(startCommit("clock"), { claim: { owner: "clock", leaseMs: 1 } });
      now = clock?.claimedAt ?? now;
      const { items, ...page } = await seen.list(query && { ...query, limit: 2 });
      return { ...page, items: items.filter(({ workflowId }) => workflowId !== "clock") };
    },
  });
}
