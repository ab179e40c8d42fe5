import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionSummary } from "../../../ports/execution-list.ts";
import { firstRow, listExecutions, longestUnchangedFirst } from "../values/read-all.ts";
import { deleteCopy } from "./bring-back.ts";
import type { Times } from "./cold-copy.ts";
import { copyEnded, originalOf } from "./copy-execution.ts";
import { interruptedMoves } from "./interrupted-moves.ts";
import { finishMove, type MoveOutcome, moveWaiting } from "./move-waiting.ts";
import { isRedirect } from "./redirect.ts";
import type { Tiers } from "./tiers.ts";

/** The result of a move. */
export interface MoveReport {
  /** The number of moved executions. */
  readonly moved: number;
  /** Ids of executions that stay in the hot store, because the cold store refuses them, or returns something else than was copied. */
  readonly left: readonly string[];
}

/** The rule that decides when an execution is moved; see `TieredStoreOptions`. */
export interface MoveRule {
  readonly now: () => EpochMs;
  readonly coldAfterMs: number;
}

const statusesToMove: readonly Status[] = ["completed", "failed", "cancelled", "paused"];

/**
 * Finishes interrupted moves, then moves executions that have ended or wait and were not changed for `coldAfterMs`, the longest unchanged
 * first.
 */
export async function moveExecutions(tiers: Tiers, rule: MoveRule, limit: number): Promise<MoveReport> {
  const interrupted = await interruptedMoves(tiers);
  const changedBefore = rule.now() - rule.coldAfterMs + 1;
  const listed = await listExecutions(tiers.hot, { status: statusesToMove, createdBefore: changedBefore });
  const redirects = listed.filter(isRedirect);
  const isToMove = (one: ExecutionSummary): boolean =>
    !isRedirect(one) && one.updatedAt < changedBefore && (one.status !== "paused" || isIdle(one, rule));
  const toMove = longestUnchangedFirst(listed.filter(isToMove));
  const left: string[] = [];
  let moved = 0;
  const move = async (one: ExecutionSummary): Promise<MoveOutcome> => {
    const outcome = await moveOne(tiers, one, rule);
    if (outcome === "moved") moved += 1;
    else if (outcome === "left" && (await firstRow(tiers.hot, one.workflowId))) left.push(one.workflowId);
    return outcome;
  };
  for (const one of [...interrupted, ...redirects]) await move(one);
  let taken = 0;
  for (const one of toMove) {
    if (taken === limit) break;
    if ((await move(one)) !== "skipped") taken += 1;
  }
  return { moved, left };
}

/**
 * Returns true if a waiting execution is neither claimed nor due soon. An execution with a single event is not moved, because its partial
 * copy would have no event.
 */
function isIdle({ version, wakeAt, lease }: ExecutionSummary, { now, coldAfterMs }: MoveRule): boolean {
  return version > 0 && !lease && (wakeAt === null || wakeAt > now() + coldAfterMs);
}

async function moveOne(tiers: Tiers, one: ExecutionSummary, rule: MoveRule): Promise<MoveOutcome> {
  try {
    return one.status === "paused" ? await moveWaiting(tiers, one, () => isIdle(one, rule)) : await moveEnded(tiers, one.workflowId, one);
  } catch (error) {
    // another move or a deletion was faster
    if (StepfoldError.is(error, "WORKFLOW_NOT_FOUND") || StepfoldError.is(error, "VERSION_CONFLICT")) return "skipped";
    if (StepfoldError.is(error, "WORKFLOW_EXISTS") || (StepfoldError.is(error) && !error.retryable)) return "left";
    throw error;
  }
}

async function moveEnded(tiers: Tiers, workflowId: string, times: Times): Promise<MoveOutcome> {
  const original = await originalOf(tiers.hot, workflowId);
  if (original && isRedirect(original.snapshot)) return finishMove(tiers, workflowId);
  if (!original || !(await copyEnded(tiers, original, times))) return "left";
  try {
    await tiers.hot.delete(workflowId);
  } catch (error) {
    if (!StepfoldError.is(error, "EXECUTION_OPEN")) throw error;
    // the execution was opened again after it was copied
    await deleteCopy(tiers.cold, workflowId);
    return "skipped";
  }
  return "moved";
}
