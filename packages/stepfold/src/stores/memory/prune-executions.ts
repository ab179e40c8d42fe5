import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal } from "../../core/snapshot/snapshot.ts";
import type { PruneOptions, PruneReport } from "../../ports/snapshot-store.ts";
import type { Shelf } from "./shelf.ts";
import type { Stored } from "./stored-execution.ts";

/** Deletes one ended execution. */
export function deleteExecution(shelf: Shelf, workflowId: string): void {
  const stored = shelf.executions.get(workflowId);
  if (!stored) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
  if (!isTerminal(stored.status)) throw new StepfoldError("EXECUTION_OPEN", { workflowId, status: stored.status });
  bury(shelf, stored);
}

/** Deletes ended executions, those first that were changed least recently, and forgets ids whose retention is over. */
export function pruneExecutions(shelf: Shelf, options: PruneOptions): PruneReport {
  const { before, statuses, limit = 1000, dryRun = false } = options;
  if (!Number.isInteger(limit) || limit < 1) {
    throw new StepfoldError("OPTION_INVALID", { option: "limit", reason: "must be a whole number, at least 1" });
  }
  const found: Stored[] = [];
  for (const stored of shelf.executions.values()) {
    const { status } = stored;
    const asked = statuses ? statuses.some((wanted) => wanted === status) : true;
    if (isTerminal(status) && asked && stored.updatedAt < before) found.push(stored);
  }
  found.sort((a, b) => a.updatedAt - b.updatedAt || a.seq - b.seq);
  const chosen = found.slice(0, limit);
  if (!dryRun) {
    for (const stored of chosen) bury(shelf, stored);
    const expired = shelf.now() - shelf.retentionMs;
    for (const [id, { deletedAt }] of shelf.tombstones) if (deletedAt <= expired) shelf.tombstones.delete(id);
  }
  return { executions: chosen.length, events: chosen.reduce((sum, { events }) => sum + events.length, 0) };
}

function bury(shelf: Shelf, { id, status }: Stored): void {
  shelf.executions.delete(id);
  shelf.tombstones.set(id, { status, deletedAt: shelf.now() });
}
