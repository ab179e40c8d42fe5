import type { PruneReport } from "../../ports/snapshot-store.ts";
import type { CheckedPrune } from "../kit/checked-store.ts";
import { refuseDelete } from "../record/refusal.ts";
import { remove, type Shelf } from "./shelf.ts";
import type { Stored } from "./stored-execution.ts";

/** Deletes one ended execution. */
export function deleteExecution(shelf: Shelf, workflowId: string): void {
  const stored = shelf.executions.get(workflowId);
  refuseDelete(workflowId, stored?.status ?? null);
  bury(shelf, stored!);
}

/** Deletes ended executions, those first that were changed least recently, and forgets ids whose retention is over. */
export function pruneExecutions(shelf: Shelf, { before, definitionId, statuses, limit, dryRun }: CheckedPrune): PruneReport {
  const found: Stored[] = [];
  for (const stored of shelf.executions.values()) {
    const isAsked = (definitionId === null || stored.definitionId === definitionId) && statuses.some((wanted) => wanted === stored.status);
    if (isAsked && stored.updatedAt < before) found.push(stored);
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

function bury(shelf: Shelf, stored: Stored): void {
  const { id, status } = stored;
  remove(shelf, stored);
  shelf.tombstones.set(id, { status, deletedAt: shelf.now() });
}
