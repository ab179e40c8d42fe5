import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { Claim, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { altered, type BrokenStore } from "../broken-store.ts";
import { remembering } from "./remembered-claims.ts";

/** Mistakes in `claim`, `renew` and `release`, and in the effect of commits on claims. */
export const brokenClaims: readonly BrokenStore[] = [
  {
    name: "hands out what is held",
    caughtBy: "claim: what is held is not handed out again",
    breaks: (store) =>
      altered(store, {
        commit: ({ fence: _, ...commit }) => store.commit(commit),
        async claim(options) {
          const claimed = await store.claim(options);
          for (const claim of claimed) await store.release(claim, claim.version);
          return claimed;
        },
      }),
  },
  {
    name: "gives every claim of an execution the same fence",
    caughtBy: "fence: rises with every claim, also of the same owner",
    breaks: sameFence,
  },
  {
    name: "counts fences one by one",
    caughtBy: "fence: rises by steps that differ",
    breaks: countedFence,
  },
  {
    name: "never says how large an execution is",
    caughtBy: "claim: says what was claimed, how large it is, and the store's time",
    breaks: (store) =>
      altered(store, { claim: async (options) => (await store.claim(options)).map((claim) => ({ ...claim, sizeBytes: 0 })) }),
  },
  {
    name: "gives what is due at once first, always",
    caughtBy: "claim: one whose time has come is claimed however much is due at once",
    breaks: atOnceFirst,
  },
  {
    name: "takes never for now",
    caughtBy: "claim: null is never due",
    breaks: (store) => wakingAt(store, ({ wakeAt, head }) => (isTerminal(head.status) ? null : (wakeAt ?? 0))),
  },
  {
    name: "ignores when an execution is due",
    caughtBy: "claim: a time in the future is due when it came, not before",
    breaks: (store) => wakingAt(store, ({ wakeAt }) => (wakeAt === null ? null : 0)),
  },
  {
    name: "keeps the due time of the start",
    caughtBy: "claim: a commit changes when it is due",
    breaks(store) {
      const first = new Map<string, number | null>();
      return wakingAt(store, ({ workflowId, wakeAt }) => {
        if (!first.has(workflowId)) first.set(workflowId, wakeAt);
        return first.get(workflowId)!;
      });
    },
  },
  {
    name: "claims more than asked for",
    caughtBy: "claim: at most as many as asked for, and the rest to the next",
    breaks: (store) => altered(store, { claim: (options) => store.claim({ ...options, limit: 1000 }) }),
  },
  {
    name: "claims the shortest due first",
    caughtBy: "claim: longest due first",
    breaks: (store) =>
      altered(store, {
        async claim(options) {
          const claimed = [...(await store.claim({ ...options, limit: 1000 }))].reverse();
          for (const claim of claimed.slice(options.limit)) await store.release(claim, claim.version);
          return claimed.slice(0, options.limit);
        },
      }),
  },
  {
    name: "claims another one than asked for",
    caughtBy: "claim: with an id, only that one",
    breaks: (store) => altered(store, { claim: ({ workflowId: _, ...options }) => store.claim(options) }),
  },
  {
    name: "renews the claim of a holder that was replaced",
    caughtBy: "renew: a holder that was replaced is told so",
    breaks: (store) =>
      altered(store, {
        renew: (claim) =>
          store.renew(claim).catch(async (error: unknown) => {
            const snapshot = await store.load(claim.workflowId);
            if (!snapshot || !StepfoldError.is(error, "FENCE_LOST")) throw error;
            return { version: snapshot.version, status: snapshot.status, storeNow: 0 };
          }),
      }),
  },
  {
    name: "renews without making the lease longer",
    caughtBy: "renew: the lease lasts from now on",
    breaks: (store) => altered(store, { renew: (claim) => store.renew({ ...claim, leaseMs: 1 }) }),
  },
  {
    name: "does not tell the holder of a cancel",
    caughtBy: "renew: tells that it was cancelled",
    breaks: (store) =>
      altered(store, {
        async renew(claim) {
          const renewed = await store.renew(claim);
          return renewed.status === "cancelled" ? { ...renewed, status: "active" } : renewed;
        },
      }),
  },
  {
    name: "releases although somebody committed since",
    caughtBy: "release: refused if somebody committed meanwhile, and the claim stays",
    breaks: (store) =>
      altered(store, {
        async release(claim) {
          await store.release(claim, (await store.load(claim.workflowId))?.version ?? 0);
        },
      }),
  },
  {
    name: "releases by letting the lease end",
    caughtBy: "release: what is due is free at once",
    breaks: (store) => altered(store, { release: async () => {} }),
  },
  {
    name: "ignores that a commit gives the claim back",
    caughtBy: "release: in the same write as a commit",
    breaks: (store) => altered(store, { commit: ({ release: _, ...commit }) => store.commit(commit) }),
  },
  {
    name: "releases although the commit was refused",
    caughtBy: "release: a refused commit releases nothing",
    breaks: releasingAlways,
  },
  {
    name: "takes the claim away when somebody else commits",
    caughtBy: "fence: a commit of somebody else, without a fence, leaves the holder its claim",
    breaks: robbing,
  },
];

function wakingAt(store: SnapshotStore, wake: (commit: Commit) => number | null): SnapshotStore {
  return altered(store, {
    create: (commit, options) => store.create({ ...commit, wakeAt: wake(commit) }, options),
    commit: (commit) => store.commit({ ...commit, wakeAt: wake(commit) }),
  });
}

function sameFence(inner: SnapshotStore): SnapshotStore {
  const { latest, store } = remembering(inner);
  const real = (workflowId: string): number => latest.get(workflowId)?.fence ?? 1;
  return altered(store, {
    async claim(options) {
      return (await store.claim(options)).map((claim) => ({ ...claim, fence: 1 }));
    },
    commit: (commit) => store.commit(commit.fence === undefined ? commit : { ...commit, fence: real(commit.workflowId) }),
    renew: (claim) => store.renew({ ...claim, fence: real(claim.workflowId) }),
    release: (claim, version) => store.release({ ...claim, fence: real(claim.workflowId) }, version),
  });
}

function countedFence(inner: SnapshotStore): SnapshotStore {
  const fences = new Map<string, number[]>();
  const fencesOf = (workflowId: string): number[] => fences.get(workflowId) ?? fences.set(workflowId, []).get(workflowId)!;
  const counted = (claim: Claim): Claim => ({ ...claim, fence: fencesOf(claim.workflowId).push(claim.fence) });
  const real = (workflowId: string, fence: number): number => fencesOf(workflowId)[fence - 1] ?? 0;
  return altered(inner, {
    async create(commit, options) {
      const claim = await inner.create(commit, options);
      return claim && counted(claim);
    },
    claim: async (options) => (await inner.claim(options)).map(counted),
    commit: (commit) => inner.commit(commit.fence === undefined ? commit : { ...commit, fence: real(commit.workflowId, commit.fence) }),
    renew: (claim) => inner.renew({ ...claim, fence: real(claim.workflowId, claim.fence) }),
    release: (claim, version) => inner.release({ ...claim, fence: real(claim.workflowId, claim.fence) }, version),
  });
}

function releasingAlways(inner: SnapshotStore): SnapshotStore {
  const { latest, store } = remembering(inner);
  return altered(store, {
    commit: (commit) =>
      store.commit(commit).catch(async (error: unknown) => {
        const claim = latest.get(commit.workflowId);
        const snapshot = await store.load(commit.workflowId);
        if (commit.release && claim && snapshot) await store.release(claim, snapshot.version);
        throw error;
      }),
  });
}

function robbing(inner: SnapshotStore): SnapshotStore {
  const { latest, store } = remembering(inner);
  return altered(store, {
    async commit(commit) {
      await store.commit(commit);
      const claim = latest.get(commit.workflowId);
      if (claim && commit.fence === undefined) await store.release(claim, commit.head.version);
    },
  });
}

function atOnceFirst(store: SnapshotStore): SnapshotStore {
  const atOnce: string[] = [];
  return altered(store, {
    async create(commit, options) {
      const claim = await store.create(commit, options);
      if (commit.wakeAt === 0 && !claim) atOnce.push(commit.workflowId);
      return claim;
    },
    async claim(options) {
      if (options.workflowId !== undefined || options.permit !== undefined) return store.claim(options);
      const found = [];
      while (found.length < options.limit && atOnce.length > 0)
        found.push(...(await store.claim({ ...options, limit: 1, workflowId: atOnce.shift()! })));
      return found.length < options.limit ? [...found, ...(await store.claim({ ...options, limit: options.limit - found.length }))] : found;
    },
  });
}
