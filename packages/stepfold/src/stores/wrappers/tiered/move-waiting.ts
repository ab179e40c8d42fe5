import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import type { ExecutionSummary } from "../../../ports/execution-list.ts";
import { readHistory } from "../../../ports/read-history.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { copyHead, isCopy, isPartial, type LastCommit, lastCommitOf, partialHead, withoutMarks } from "./cold-copy.ts";
import { childHeads, copyDefinition, copyRows, isSameJson, isSameState, lastTrimmed, type Original, originalOf } from "./copy-execution.ts";
import { loadCold } from "./load-cold.ts";
import { redirectCommit } from "./redirect.ts";
import { copyKeys } from "./tier-keys.ts";
import type { Tiers } from "./tiers.ts";

/**
 * The result of moving one execution. `left`: it stays, because the cold store refuses it or returns something else than was copied.
 * `skipped`: it stays without an error, because it has changed since it was listed, or must not be moved.
 */
export type MoveOutcome = "moved" | "left" | "skipped";

/**
 * Moves a waiting execution. First it makes a partial copy, whose mark holds the last commit. Then one conditional write turns the original
 * into a redirect. From this moment the execution lives in the cold store, also if this process dies right after. Every reader that finds
 * the redirect completes the copy, and the copy becomes due at the same time as the original.
 *
 * @param isToMove called at the last moment: false if the execution must not be moved any more
 */
export async function moveWaiting(tiers: Tiers, listed: ExecutionSummary, isToMove: () => boolean): Promise<MoveOutcome> {
  const { hot, cold } = tiers;
  const { workflowId, version, wakeAt } = listed;
  const original = await originalOf(hot, workflowId);
  if (original?.snapshot.version !== version || original.snapshot.status !== "paused") return "skipped";
  const { snapshot, rows } = original;
  // messages in the outbox must be delivered soon; executions with a permit or a rate are counted in the hot store; and a history with a
  // gap needs a checkpoint, which the mark of a partial copy does not have
  if (snapshot.outbox?.length || snapshot.permit || snapshot.rate || lastTrimmed(rows) > 0) return "skipped";
  await copyDefinition(tiers, snapshot);

  const { input: _, ...head } = snapshotHead(snapshot);
  const row = rows.at(-1)!;
  const lastCommit: LastCommit = { head: { ...head, metadata: {} }, row, wakeAt };
  const partial = partialHead(copyHead(snapshotHead(snapshot), listed), row.version - 1, lastCommit);
  await copyRows(cold, snapshot, rows.slice(0, -1), { head: partial, wakeAt });

  if (!(await isReadable(cold, original, lastCommit))) return (await hot.load(workflowId))?.version === version ? "left" : "skipped";
  await copyKeys(hot, cold, snapshot);
  if (!isToMove()) return "skipped";
  try {
    await hot.commit(redirectCommit(snapshot, row.event.at));
  } catch (error) {
    // the execution has continued in the hot store; its next move continues with this copy
    if (StepfoldError.is(error, "VERSION_CONFLICT") || StepfoldError.is(error, "EXECUTION_ENDED")) return "skipped";
    throw error;
  }
  return finishMove(tiers, workflowId);
}

/** Reads the copy again and compares it with the original. If the hot store was restored from a backup, the copy may be complete. */
async function isReadable(cold: SnapshotStore, { snapshot, rows }: Original, lastCommit: LastCommit): Promise<boolean> {
  const copy = await cold.load(snapshot.workflowId);
  if (!copy || !isCopy(copy)) return false;
  const copied = await readHistory(cold, snapshot.workflowId);
  if (!isPartial(copy)) return isSameState(withoutMarks(copy), snapshot) && isSameJson(copied, rows);
  const isReady = isSameJson(lastCommitOf(copy), lastCommit) && isSameJson(childHeads(copy), childHeads(snapshot));
  return isReady && isSameJson(copied, rows.slice(0, -1));
}

/**
 * Finishes a move whose redirect is written: completes the copy and deletes the redirect. If there is no copy, the execution has ended in
 * the cold store and was deleted.
 */
export async function finishMove({ hot, cold }: Tiers, workflowId: string): Promise<MoveOutcome> {
  await loadCold(cold, workflowId, true);
  await hot.delete(workflowId);
  return "moved";
}
