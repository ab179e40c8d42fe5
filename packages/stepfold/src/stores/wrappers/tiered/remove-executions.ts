import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { PruneReport, TrimReport } from "../../../ports/store-removal.ts";
import type { CheckedPrune, CheckedTrim } from "../../kit/lists/checked-query.ts";
import { incarnationOf } from "../values/read-all.ts";
import { removalOptions } from "../values/value-store.ts";
import { copyEnded, originalOf } from "./copy-execution.ts";
import { interruptedMoves } from "./interrupted-moves.ts";
import { loadCold } from "./load-cold.ts";
import { isRedirect } from "./redirect.ts";
import type { Tiers } from "./tiers.ts";

/** Deletes an execution from both stores. The copy is deleted first: after a crash the original is still there and can be deleted again. */
export async function deleteFromBoth(tiers: Tiers, workflowId: string): Promise<void> {
  const { hot, cold } = tiers;
  const [original, copy] = [await incarnationOf(hot, workflowId), await incarnationOf(cold, workflowId)];
  if (original === null) {
    if (copy !== null && !(await loadCold(cold, workflowId, false))) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
    await cold.delete(workflowId);
    return;
  }
  if (original === copy && (await completeBeforeDelete(tiers, workflowId))) await cold.delete(workflowId);
  await hot.delete(workflowId);
}

/** Completes a copy, because only ended executions can be deleted. False if that is not possible. */
async function completeBeforeDelete(tiers: Tiers, workflowId: string): Promise<boolean> {
  const original = await originalOf(tiers.hot, workflowId);
  if (!original) return false;
  if (isRedirect(original.snapshot)) return (await loadCold(tiers.cold, workflowId, true)) !== null;
  return copyEnded(tiers, original, { createdAt: 0, updatedAt: 0 });
}

/** Trims both stores, the hot store first. */
export async function trimBoth({ hot, cold }: Tiers, options: CheckedTrim): Promise<TrimReport> {
  const wanted = removalOptions(options);
  const first = await hot.trim(wanted);
  const limit = options.limit - first.executions;
  if (limit <= 0) return first;
  const second = await cold.trim({ ...wanted, limit });
  return {
    executions: first.executions + second.executions,
    events: first.events + second.events,
    trimmed: [...first.trimmed, ...second.trimmed],
    left: [...first.left, ...second.left],
  };
}

/** Prunes both stores, the cold store first, because its executions have ended earlier. */
export async function pruneBoth(tiers: Tiers, checked: CheckedPrune, now: () => EpochMs): Promise<PruneReport> {
  const { hot, cold } = tiers;
  const options = removalOptions(checked);
  const { before, limit } = checked;
  // a partial copy counts as the execution only if there is a redirect. So the copies of redirects are completed before redirects are
  // pruned, and `changedBefore` excludes redirects that are made from now on. A dry run finishes interrupted moves too: that
  // deletes only partial copies that nobody can load, and without it the count would be too low
  const changedBefore = Math.min(before, now() + 1);
  for (const one of await interruptedMoves(tiers)) if (isRedirect(one)) await loadCold(cold, one.workflowId, true);
  const first = await cold.prune(options);
  if (first.executions >= limit) return first;
  const second = await hot.prune({ ...options, before: changedBefore, limit: limit - first.executions });
  return {
    executions: first.executions + second.executions,
    events: first.events + second.events,
    deleted: [...first.deleted, ...second.deleted],
  };
}
