import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal, type Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionSummary, ListQuery, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { firstRow, incarnationIn } from "../values/read-all.ts";
import { isUnfinished, type Times, withoutTimes } from "./cold-copy.ts";
import { copyEnded, originalOf, type Tiers } from "./copy-execution.ts";
import { buryCopy } from "./interrupted-moves.ts";
import { type Moved, moveWaiting, settleStub } from "./move-waiting.ts";
import { isStub } from "./redirect.ts";

/** What a move did. */
export interface MoveReport {
  readonly moved: number;
  /** Ids of executions that stay in the hot store: the cold one refuses them, or does not give back what was put there. */
  readonly left: readonly string[];
}

/** When an execution is one to be moved. */
export interface MoveRule {
  readonly now: () => EpochMs;
  readonly coldAfterMs: number;
}

const toMove: readonly Status[] = ["completed", "failed", "cancelled", "paused"];

/** Moves what was not changed for long and has ended or waits, the least recently changed first, and ends what earlier moves left half done. */
export async function moveExecutions(tiers: Tiers, rule: MoveRule, limit: number): Promise<MoveReport> {
  const changedBefore = rule.now() - rule.coldAfterMs + 1;
  const broken = await brokenMoves(tiers);
  const listed = await all(tiers.hot, { status: toMove, createdBefore: changedBefore });
  const found = listed
    .filter((one) => !isStub(one) && one.updatedAt < changedBefore && (one.status !== "paused" || isToWait(one, rule)))
    .reverse()
    .sort((a, b) => a.updatedAt - b.updatedAt);
  const left: string[] = [];
  let moved = 0;
  const take = async (one: ExecutionSummary): Promise<Moved> => {
    const outcome = await moveOne(tiers, one, rule);
    if (outcome === "moved") moved += 1;
    else if (outcome === "left" && (await firstRow(tiers.hot, one.workflowId))) left.push(one.workflowId);
    return outcome;
  };
  for (const one of [...broken, ...listed.filter(isStub)]) await take(one);
  let taken = 0;
  for (const one of found) {
    if (taken === limit) break;
    if ((await take(one)) !== "changed") taken += 1;
  }
  return { moved, left };
}

/** Nobody drives it, nor will soon. The copy begins before its last event makes it count: what has only one stays. */
function isToWait({ version, wakeAt, lease }: ExecutionSummary, { now, coldAfterMs }: MoveRule): boolean {
  return version > 0 && !lease && (wakeAt === null || wakeAt > now() + coldAfterMs);
}

async function moveOne(tiers: Tiers, one: ExecutionSummary, rule: MoveRule): Promise<Moved> {
  try {
    return one.status === "paused" ? await moveWaiting(tiers, one, () => isToWait(one, rule)) : await moveEnded(tiers, one.workflowId, one);
  } catch (error) {
    // another move, or a deletion, was faster
    if (StepfoldError.is(error, "WORKFLOW_NOT_FOUND") || StepfoldError.is(error, "VERSION_CONFLICT")) return "changed";
    if (StepfoldError.is(error, "WORKFLOW_EXISTS") || (StepfoldError.is(error) && !error.retryable)) return "left";
    throw error;
  }
}

async function moveEnded(tiers: Tiers, workflowId: string, times: Times): Promise<Moved> {
  const original = await originalOf(tiers.hot, workflowId);
  if (original && isStub(original.snapshot)) return settleStub(tiers, workflowId);
  if (!original || !(await copyEnded(tiers, original, times))) return "left";
  await tiers.hot.delete(workflowId);
  return "moved";
}

/**
 * Executions that have ended, or are stubs, and have a copy that broke off. A copy whose original is gone is deleted
 * here; one whose original goes on in the hot store is left to the next move of it.
 */
export async function brokenMoves({ hot, cold }: Tiers): Promise<ExecutionSummary[]> {
  const broken: ExecutionSummary[] = [];
  for (const copy of (await all(cold, { status: ["error"] })).filter(isUnfinished)) {
    const { workflowId } = copy;
    const [original, copied] = [await firstRow(hot, workflowId), await firstRow(cold, workflowId)];
    if (!copied) continue;
    if (!original || incarnationIn(original) !== incarnationIn(copied)) {
      await buryCopy(cold, workflowId);
      continue;
    }
    const snapshot = await hot.load(workflowId);
    if (snapshot && isTerminal(snapshot.status)) broken.push({ ...withoutTimes(copy), status: snapshot.status });
  }
  return broken;
}

async function all(store: SnapshotStore, query: ListQuery): Promise<ExecutionSummary[]> {
  const items: ExecutionSummary[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list({ ...query, limit: 1000, ...(cursor !== undefined && { cursor }) });
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
}
