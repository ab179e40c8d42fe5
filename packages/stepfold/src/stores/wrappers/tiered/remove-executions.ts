import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { PruneOptions, PruneReport } from "../../../ports/snapshot-store.ts";
import type { CheckedPrune } from "../../kit/checked-store.ts";
import { firstRow, incarnationIn } from "../values/read-all.ts";
import { copyEnded, originalOf, type Tiers } from "./copy-execution.ts";
import { liveInCold } from "./load-cold.ts";
import { brokenMoves } from "./move-executions.ts";
import { isStub } from "./redirect.ts";

/** Deletes from both: first the copy, because what is only in the hot store can be deleted again. */
export async function deleteFromBoth(tiers: Tiers, workflowId: string): Promise<void> {
  const { hot, cold } = tiers;
  const [first, copy] = [await firstRow(hot, workflowId), await firstRow(cold, workflowId)];
  if (!first) {
    if (copy && !(await liveInCold(cold, workflowId, false))) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    await cold.delete(workflowId);
    return;
  }
  if (copy && incarnationIn(first) === incarnationIn(copy)) {
    const original = await originalOf(hot, workflowId);
    const isWhole =
      original !== null &&
      (isStub(original.snapshot)
        ? (await liveInCold(cold, workflowId, true)) !== null
        : await copyEnded(tiers, original, { createdAt: 0, updatedAt: 0 }));
    if (isWhole) await cold.delete(workflowId);
  }
  await hot.delete(workflowId);
}

/** What is cold ended first. */
export async function pruneBoth(
  tiers: Tiers,
  { definitionId, limit, before, ...rest }: CheckedPrune,
  now: () => EpochMs,
): Promise<PruneReport> {
  const { hot, cold } = tiers;
  const asked = { ...rest, ...(definitionId !== null && { definitionId }) } satisfies Omit<PruneOptions, "before">;
  // a stub is all that tells that an unfinished copy counts: none of before may be left, nor may one that is made from now on go
  const changedBefore = Math.min(before, now() + 1);
  for (const { workflowId } of await brokenMoves(tiers)) {
    const original = await originalOf(hot, workflowId);
    if (original && isStub(original.snapshot)) await liveInCold(cold, workflowId, true);
  }
  const first = await cold.prune({ ...asked, before, limit });
  if (first.executions >= limit) return first;
  const second = await hot.prune({ ...asked, before: changedBefore, limit: limit - first.executions });
  return { executions: first.executions + second.executions, events: first.events + second.events };
}
