import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal, type Snapshot } from "../../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { isCopy, isUnfinished, markedCommit, pendingOf } from "./cold-copy.ts";

/**
 * The execution as it is in the cold store, with its marks; null if it does not live there.
 *
 * @param hasStub true if the hot store has its stub: then a copy that lacks its end is given it first, because it counts
 */
export async function liveInCold(cold: SnapshotStore, workflowId: string, hasStub: boolean): Promise<Snapshot | null> {
  const copy = await cold.load(workflowId);
  if (!copy) return null;
  if (!isUnfinished(copy)) return isTerminal(copy.status) || isCopy(copy) ? copy : null;
  if (!hasStub || !(await finish(cold, copy))) return null;
  const finished = await cold.load(workflowId);
  return finished && !isUnfinished(finished) ? finished : null;
}

/** Gives a copy what it lacks: with that it counts, and whoever comes second changes nothing. */
async function finish(cold: SnapshotStore, copy: Snapshot): Promise<boolean> {
  const pending = pendingOf(copy);
  if (!pending || isTerminal(copy.status)) return false;
  const { workflowId, incarnation = "", version: expectedVersion } = copy;
  const { head, row, wakeAt } = pending;
  try {
    await cold.commit(
      markedCommit({ workflowId, incarnation, expectedVersion, commitId: row.commitId, head, events: [row.event], wakeAt }),
    );
  } catch (error) {
    // it ended since, and was deleted
    if (!StepfoldError.is(error, "VERSION_CONFLICT")) throw error;
  }
  return true;
}
