import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { ExecutionSummary, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { historyOf } from "../values/read-all.ts";
import { isCopy, isUnfinished, markedHead, type Pending, pendingOf, unfinishedHead, unmarked } from "./cold-copy.ts";
import { childrenOf, copyDefinition, copyRows, headOf, isSameJson, type Original, originalOf, type Tiers } from "./copy-execution.ts";
import { liveInCold } from "./load-cold.ts";
import { stubCommit } from "./redirect.ts";

/** What became of an execution that was to be moved; `changed`: it is not, or no longer, one to be moved. */
export type Moved = "moved" | "left" | "changed";

/**
 * Moves an execution that waits. The copy has everything, its end in its head, but does not count; then one conditional
 * write in the hot store makes a stub of the original, and with that the execution lives in the cold store, whoever
 * crashes: who finds the stub gives the copy its end, and the copy wakes up at the right time.
 *
 * @param isToWait whether the execution still is one to be moved, asked at the last moment
 */
export async function moveWaiting(tiers: Tiers, listed: ExecutionSummary, isToWait: () => boolean): Promise<Moved> {
  const { hot, cold } = tiers;
  const { workflowId, version, wakeAt } = listed;
  const original = await originalOf(hot, workflowId);
  if (original?.snapshot.version !== version || original.snapshot.status !== "paused") return "changed";
  const { snapshot, rows } = original;
  // somebody is to be told something, at once; and who takes turns is counted together with the others
  if (snapshot.outbox?.length || snapshot.permit) return "changed";
  await copyDefinition(tiers, snapshot);

  const { input: _, ...head } = headOf(snapshot);
  const row = rows.at(-1)!;
  const pending: Pending = { head: { ...head, metadata: {} }, row, wakeAt };
  const unfinished = unfinishedHead(markedHead(headOf(snapshot), listed), row.version - 1, pending);
  await copyRows(cold, snapshot, rows.slice(0, -1), { head: unfinished, wakeAt });

  if (!(await isWhole(cold, original, pending))) return (await hot.load(workflowId))?.version === version ? "left" : "changed";
  if (!isToWait()) return "changed";
  try {
    await hot.commit(stubCommit(snapshot, row.event.at));
  } catch (error) {
    // it goes on in the hot store; the copy is the beginning of the one that is made when it waits again, or has ended
    if (StepfoldError.is(error, "VERSION_CONFLICT") || StepfoldError.is(error, "EXECUTION_ENDED")) return "changed";
    throw error;
  }
  return settleStub(tiers, workflowId);
}

/** Nothing is given up that could not be read again. Where a backup of the hot store came back, the copy may count already. */
async function isWhole(cold: SnapshotStore, { snapshot, rows }: Original, pending: Pending): Promise<boolean> {
  const copy = await cold.load(snapshot.workflowId);
  if (!copy || !isCopy(copy)) return false;
  const copied = await historyOf(cold, snapshot.workflowId);
  if (!isUnfinished(copy)) return isSameJson(unmarked(copy), snapshot) && isSameJson(copied, rows);
  const isReady = isSameJson(pendingOf(copy), pending) && isSameJson(childrenOf(copy), childrenOf(snapshot));
  return isReady && isSameJson(copied, rows.slice(0, -1));
}

/** Ends a move whose stub is there. What is not in the cold store either has ended there, and was deleted. */
export async function settleStub({ hot, cold }: Tiers, workflowId: string): Promise<Moved> {
  await liveInCold(cold, workflowId, true);
  await hot.delete(workflowId);
  return "moved";
}
