import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Claim, Commit, Lease, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { firstRow } from "../values/read-all.ts";
import { coldFence } from "./claim-tiers.ts";
import { commitToCold } from "./cold-copy.ts";
import { loadCold } from "./load-cold.ts";
import { hotStateAfter } from "./redirect.ts";
import type { Tiers } from "./tiers.ts";

/**
 * A fence that no claim has. With it the cold store acknowledges repeated commits of a holder from the hot store, and refuses all its new
 * commits.
 */
const noFence = 0;

/** Removes `alongside` from a commit, because the two stores have no common transaction. */
export function withoutAlongside({ alongside: _, ...commit }: Commit): Commit {
  return commit;
}

/** Clones a commit without `alongside`, so that the caller may change its own. */
export function clonedCommit(commit: Commit): Commit {
  return structuredClone(withoutAlongside(commit));
}

/**
 * What the cold store knows about the id of a new execution. `free`: nothing that the hot store does not know, so the hot store decides.
 * `created`: the same commit has created the execution, which has moved since. `taken`: another commit has created it.
 */
type IdState = "free" | "created" | "taken";

/**
 * Asks the cold store about the id of a new execution, because the hot store may have forgotten an execution that has moved. If an
 * execution with this id moves after this check, the hot store still knows the id.
 */
export async function idStateOf({ hot, cold }: Tiers, { workflowId, commitId }: Commit): Promise<IdState> {
  const moved = await firstRow(cold, workflowId);
  if (!moved || (await firstRow(hot, workflowId))) return "free";
  return moved.commitId === commitId ? "created" : "taken";
}

/** Creates an execution in the hot store, unless the cold store has its id. */
export async function createInHot(
  hot: SnapshotStore,
  idState: IdState,
  commit: Commit,
  options: { readonly claim?: Lease } | undefined,
): Promise<Claim | null> {
  if (idState === "free") return hot.create(commit, options);
  if (idState === "created") return null;
  throw new StepfoldError("WORKFLOW_EXISTS", { workflowId: commit.workflowId });
}

/**
 * Commits to the store in which the execution lives. A fence says which store that is; without a fence the hot store is tried first, and
 * refuses the commit if the execution has moved.
 *
 * @param sendToCold sends commits to the cold store in the order in which the hot store has refused them
 */
export async function commitToTiers(
  { hot, cold }: Tiers,
  commit: Commit,
  sendToCold: (prepared: Promise<void>, send: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { workflowId, incarnation, expectedVersion } = commit;
  const fence = coldFence(commit.fence);
  if (fence !== null) return commitToCold(cold, { ...commit, fence });
  try {
    await hot.commit(commit);
  } catch (error) {
    const isInCold = hotStateAfter(hot, commit, error).then(async (state) => {
      if (state === null) throw error;
      const live = await loadCold(cold, workflowId, state === "redirect");
      if (live?.incarnation === incarnation) return;
      throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected: expectedVersion, actual: null });
    });
    await sendToCold(isInCold, () => commitToCold(cold, commit.fence === undefined ? commit : { ...commit, fence: noFence }));
  }
}
