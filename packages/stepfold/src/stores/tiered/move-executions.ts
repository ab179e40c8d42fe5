import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { SnapshotHead, Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { ExecutionSummary, ListQuery, SnapshotStore } from "../../ports/snapshot-store.ts";
import { copyExecution, type Tiers } from "./copy-execution.ts";
import { firstRow, historyOf, incarnationIn } from "./history.ts";
import { isCopy, type Times, withoutTimes } from "./moved-copy.ts";

/** What of an execution a copy shows while it is being made. */
const unfinished: Status = "paused";

/** What has ended. */
export const ended: readonly Status[] = ["completed", "failed", "cancelled"];

/** What a move did. */
export interface MoveReport {
  readonly moved: number;
  /** Ids of executions that stay in the hot store: the cold one refuses them, or does not give back what was put there. */
  readonly left: readonly string[];
}

/** Moves what ended before a time, the least recently changed first, and ends what an earlier move left half done. */
export async function moveExecutions(tiers: Tiers, endedBefore: EpochMs, limit: number): Promise<MoveReport> {
  const left: string[] = [];
  let moved = 0;
  for (const { workflowId, createdAt, updatedAt } of [
    ...(await brokenMoves(tiers)),
    ...(await oldestEnded(tiers.hot, endedBefore, limit)),
  ]) {
    if (await moveOne(tiers, workflowId, { createdAt, updatedAt })) moved += 1;
    else if (await firstRow(tiers.hot, workflowId)) left.push(workflowId);
  }
  return { moved, left };
}

async function moveOne(tiers: Tiers, workflowId: string, times: Times): Promise<boolean> {
  try {
    if (!(await copyExecution(tiers, workflowId, times))) return false;
    await tiers.hot.delete(workflowId);
    return true;
  } catch (error) {
    // another move was faster
    if (StepfoldError.is(error, "WORKFLOW_NOT_FOUND")) return false;
    if (StepfoldError.is(error, "WORKFLOW_EXISTS") || (StepfoldError.is(error) && !error.retryable)) return false;
    throw error;
  }
}

/** Copies that broke off; those whose original was deleted since are deleted here. */
async function brokenMoves({ hot, cold }: Tiers): Promise<ExecutionSummary[]> {
  const broken: ExecutionSummary[] = [];
  for (const copy of await all(cold, { status: [unfinished] })) {
    if (await firstRow(hot, copy.workflowId)) broken.push(withoutTimes(copy));
    else await bury(cold, copy.workflowId);
  }
  return broken;
}

/** Ends an unfinished copy, because only what has ended can be deleted. What waits there and is no copy is somebody else's. */
async function bury(cold: SnapshotStore, workflowId: string): Promise<void> {
  const snapshot = await cold.load(workflowId);
  const last = (await historyOf(cold, workflowId)).at(-1);
  if (!snapshot || !last || snapshot.status !== unfinished || !isCopy(snapshot)) return;
  const { context: _, childStates: __, mapItems: ___, compensations: ____, ...rest } = snapshot;
  const version = snapshot.version + 1;
  const head: SnapshotHead = { ...rest, status: "cancelled", version };
  const event = { type: "cancelled", version, at: last.event.at, reason: "deleted while it was moved" } as const;
  const commitId = `buried-${snapshot.incarnation}`;
  const { workflowId: id, incarnation = "" } = snapshot;
  await cold.commit({ workflowId: id, incarnation, expectedVersion: snapshot.version, commitId, head, events: [event], wakeAt: null });
  await cold.delete(workflowId);
}

async function oldestEnded(hot: SnapshotStore, endedBefore: EpochMs, limit: number): Promise<ExecutionSummary[]> {
  const found = (await all(hot, { status: ended })).filter(({ updatedAt }) => updatedAt < endedBefore);
  return found
    .reverse()
    .sort((a, b) => a.updatedAt - b.updatedAt)
    .slice(0, limit);
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

/** Deletes from both: first the copy, because what is only in the hot store can be deleted again. */
export async function deleteFromBoth(tiers: Tiers, workflowId: string): Promise<void> {
  const { hot, cold } = tiers;
  const [original, copy] = [await firstRow(hot, workflowId), await firstRow(cold, workflowId)];
  if (original && copy && incarnationIn(original) === incarnationIn(copy)) {
    if (await copyExecution(tiers, workflowId, { createdAt: 0, updatedAt: 0 })) await cold.delete(workflowId);
  }
  await (original ? hot : cold).delete(workflowId);
}
