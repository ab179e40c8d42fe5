import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { latestOf } from "./successor.ts";

/** Id of the workflow that every schedule is an execution of. */
export const scheduleWorkflowId = "stepfold-schedule";
/** Name of the signal by which a schedule is told everything. */
export const scheduleSignal = "schedule";

/** Id of the first execution of a schedule; those that it goes on as have `~2`, `~3`, ... at the end. */
export function scheduleIdOf(name: string): string {
  return `schedule:${name}`;
}

/**
 * The execution that a schedule is now, or the last one that it was; null if there is none. The list finds it at once, however often the
 * schedule has gone on as a new execution, and also after the first ones were deleted. What the list does not know yet is found by its links.
 */
export async function latestSchedule(store: SnapshotStore, name: string): Promise<SnapshotHead | null> {
  const { items } = await store.list({ definitionId: scheduleWorkflowId, metadata: { schedule: name }, limit: 1 });
  const head = await store.loadHead(items[0]?.workflowId ?? scheduleIdOf(name));
  return head && latestOf(store, head);
}
