import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { latestMetadata } from "../../../core/snapshot/restore.ts";
import { isTerminal, type Snapshot } from "../../../core/snapshot/snapshot.ts";
import { listedWaitsOf } from "../../../core/transition/draft/listed-waits.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { commitToCold, isCopy, isPartial, lastCommitOf } from "./cold-copy.ts";

/**
 * Loads an execution that lives in the cold store, with its marks; null if it does not live there.
 *
 * @param isRedirected true if the hot store has a redirect: then a partial copy is the execution, and is completed first
 */
export async function loadCold(cold: SnapshotStore, workflowId: string, isRedirected: boolean): Promise<Snapshot | null> {
  const copy = await cold.load(workflowId);
  if (!copy) return null;
  if (!isPartial(copy)) return isTerminal(copy.status) || isCopy(copy) ? copy : null;
  if (!isRedirected || !(await completeCopy(cold, copy))) return null;
  const completed = await cold.load(workflowId);
  return completed && !isPartial(completed) ? completed : null;
}

/** Makes the last commit, which a partial copy keeps in its mark. Several processes may do so; only the first changes the copy. */
async function completeCopy(cold: SnapshotStore, copy: Snapshot): Promise<boolean> {
  const lastCommit = lastCommitOf(copy);
  if (!lastCommit || isTerminal(copy.status)) return false;
  const { workflowId, incarnation = "", version: expectedVersion } = copy;
  const { head, row, wakeAt } = lastCommit;
  try {
    // a commit that sets metadata must give the waits again
    const waits = latestMetadata([row.event]) && { waits: listedWaitsOf({ ...copy, activePaths: head.activePaths }) };
    const commit = { workflowId, incarnation, expectedVersion, commitId: row.commitId, head, events: [row.event], wakeAt, ...waits };
    await commitToCold(cold, commit);
  } catch (error) {
    // another process has completed the copy, and the execution has ended since and was deleted
    if (!StepfoldError.is(error, "VERSION_CONFLICT")) throw error;
  }
  return true;
}
