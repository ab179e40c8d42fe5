import { isTerminal, type SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import { readHistory } from "../../../ports/read-history.ts";
import type { ExecutionSummary, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { incarnationOf, listExecutions } from "../values/read-all.ts";
import { isCopy, isPartial, withOriginalTimes } from "./cold-copy.ts";
import type { Tiers } from "./tiers.ts";

/**
 * Finds partial copies whose execution has ended in the hot store, or is a redirect there. A partial copy without an original is deleted.
 * A partial copy of an execution that is open in the hot store is left for the next move of that execution.
 *
 * @returns the copies, each with the status and the current node in the hot store
 */
export async function interruptedMoves({ hot, cold }: Tiers): Promise<ExecutionSummary[]> {
  const interrupted: ExecutionSummary[] = [];
  for (const copy of (await listExecutions(cold, { status: ["error"] })).filter(isPartial)) {
    const { workflowId } = copy;
    const [original, copied] = [await incarnationOf(hot, workflowId), await incarnationOf(cold, workflowId)];
    if (copied === null) continue;
    if (original !== copied) {
      await deletePartialCopy(cold, workflowId);
      continue;
    }
    const snapshot = await hot.load(workflowId);
    if (!snapshot || !isTerminal(snapshot.status)) continue;
    interrupted.push({ ...withOriginalTimes(copy), status: snapshot.status, currentNodeId: snapshot.currentNodeId });
  }
  return interrupted;
}

/**
 * Deletes a partial copy whose original is deleted. The copy is cancelled first, because only ended executions can be deleted. A move
 * deletes an original only after its copy is complete, so this copy will never be completed.
 */
async function deletePartialCopy(cold: SnapshotStore, workflowId: string): Promise<void> {
  const snapshot = await cold.load(workflowId);
  const last = (await readHistory(cold, workflowId)).at(-1);
  if (!snapshot || !last || !isCopy(snapshot) || !isPartial(snapshot)) return;
  if (!isTerminal(snapshot.status)) {
    const { incarnation = "", version: expectedVersion } = snapshot;
    const version = expectedVersion + 1;
    const head: SnapshotHead = { ...snapshotHead(snapshot), status: "cancelled", version };
    const event = { type: "cancelled", version, at: last.event.at, reason: "deleted while it was moved" } as const;
    const commitId = `buried-${incarnation}`;
    await cold.commit({ workflowId, incarnation, expectedVersion, commitId, head, events: [event], wakeAt: null });
  }
  await cold.delete(workflowId);
}
