import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import type { ExecutionSummary } from "../../../ports/execution-list.ts";
import { incarnationOf, listExecutions } from "../values/read-all.ts";
import { isPartial, withOriginalTimes } from "./cold-copy.ts";
import { deletePartialCopy } from "./partial-copies.ts";
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
