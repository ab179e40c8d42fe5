import type { Claim, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { altered } from "../broken-store.ts";

/** The rules by which a store counts claims that ran out. */
export interface CrashRules {
  /** True if this commit sets the count to 0. `applied` tells whether the store has applied the commit. */
  resets(commit: Commit, applied: boolean): boolean;
  /** True if a released claim counts as one that ran out. */
  readonly countsReleases?: boolean;
  /** True if a renewal sets the count to 0. */
  readonly renewalResets?: boolean;
}

interface Count {
  held: boolean;
  expired: number;
}

/** Makes a store that counts the claims that ran out by its own rules. */
export function countingCrashes(
  store: SnapshotStore,
  { resets, countsReleases = false, renewalResets = false }: CrashRules,
): SnapshotStore {
  const counts = new Map<string, Count>();
  const counted = (claim: Claim): Claim => {
    const { held, expired } = counts.get(claim.workflowId) ?? { held: false, expired: 0 };
    const count = { held: true, expired: held ? expired + 1 : expired };
    counts.set(claim.workflowId, count);
    return { ...claim, expired: count.expired };
  };
  const after = (commit: Commit, applied: boolean): void => {
    const count = counts.get(commit.workflowId);
    if (!count) return;
    if (resets(commit, applied)) count.expired = 0;
    if (applied && commit.release && !countsReleases) count.held = false;
  };
  return altered(store, {
    async create(commit, options) {
      const claim = await store.create(commit, options);
      return claim && counted(claim);
    },
    claim: async (options) => (await store.claim(options)).map(counted),
    async commit(commit) {
      let applied = false;
      try {
        const before = await store.load(commit.workflowId);
        await store.commit(commit);
        applied = before?.version === commit.expectedVersion;
      } finally {
        after(commit, applied);
      }
    },
    async renew(claim) {
      const renewed = await store.renew(claim);
      const count = counts.get(claim.workflowId);
      if (count && renewalResets) count.expired = 0;
      return renewed;
    },
    async release(claim, version) {
      await store.release(claim, version);
      const count = counts.get(claim.workflowId);
      if (count && !countsReleases) count.held = false;
    },
  });
}
