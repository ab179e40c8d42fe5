import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Claim, Commit, Lease, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { firstRow } from "../values/read-all.ts";
import { coldFence } from "./claim-tiers.ts";
import { markedCommit } from "./cold-copy.ts";
import type { Tiers } from "./copy-execution.ts";
import { liveInCold } from "./load-cold.ts";
import { placeAfter } from "./redirect.ts";

/** The fence of no claim: what a holder of the hot store wrote before is acknowledged, and nothing else. */
const noFence = 0;

/** A commit that its owner may go on changing. No other writes go with it: only one store could make them. */
export function wholeCopy(commit: Commit): Commit {
  return structuredClone(shallowCopy(commit));
}

/** The same for one that is written at once, or only compared. */
export function shallowCopy({ alongside: _, ...commit }: Commit): Commit {
  return commit;
}

type Home = "hot" | "moved, made by this commit" | "moved";

/** Where the id of a new execution is taken. The hot store may have forgotten it; whatever moves after this leaves it taken there. */
export async function homeOf({ hot, cold }: Tiers, { workflowId, commitId }: Commit): Promise<Home> {
  const moved = await firstRow(cold, workflowId);
  if (!moved || (await firstRow(hot, workflowId))) return "hot";
  return moved.commitId === commitId ? "moved, made by this commit" : "moved";
}

/** Creates it in the hot store, unless its id is taken in the cold one. */
export async function createAt(
  hot: SnapshotStore,
  home: Home,
  commit: Commit,
  options: { readonly claim?: Lease } | undefined,
): Promise<Claim | null> {
  if (home === "hot") return hot.create(commit, options);
  if (home === "moved, made by this commit") return null;
  throw new StepfoldError("WORKFLOW_EXISTS", { workflowId: commit.workflowId });
}

/**
 * Commits where the execution lives, which the fence tells; without one the hot store is asked first, and refuses what it
 * no longer has.
 *
 * @param inTurn keeps what goes on to the cold store in the order in which the hot one refused it
 */
export async function commitToTiers(
  { hot, cold }: Tiers,
  commit: Commit,
  inTurn: (prepared: Promise<void>, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { workflowId, incarnation, expectedVersion } = commit;
  const fence = coldFence(commit.fence);
  if (fence !== null) return cold.commit(markedCommit({ ...commit, fence }));
  try {
    await hot.commit(commit);
  } catch (error) {
    const isThere = placeAfter(hot, commit, error).then(async (place) => {
      if (place === null) throw error;
      const live = await liveInCold(cold, workflowId, place === "stub");
      if (live?.incarnation === incarnation) return;
      throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected: expectedVersion, actual: null });
    });
    await inTurn(isThere, () => cold.commit(markedCommit(commit.fence === undefined ? commit : { ...commit, fence: noFence })));
  }
}
