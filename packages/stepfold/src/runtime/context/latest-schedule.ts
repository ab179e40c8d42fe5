import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";
import { latestOf } from "./successor.ts";

/** Id of the workflow of which every schedule is an execution. */
export const scheduleWorkflowId = "stepfold-schedule";
/** Name of the signal that brings a schedule its commands and the news of its executions. */
export const scheduleSignal = "schedule";

/** Returns the id of the first execution of a schedule. Its successors have `~2`, `~3`, ... at the end. */
export function scheduleIdOf(name: string): string {
  return `schedule:${name}`;
}

/**
 * Finds the execution that a schedule is at present, or its last one if it has ended; null if there is none. The list gives the newest
 * execution that it knows, even if the earlier ones were deleted. Links lead to the successors that the list does not know yet.
 */
export async function latestSchedule(store: SnapshotStore, name: string): Promise<SnapshotHead | null> {
  const { items } = await store.list({ definitionId: scheduleWorkflowId, metadata: { schedule: name }, limit: 1 });
  const head = await store.loadHead(items[0]?.workflowId ?? scheduleIdOf(name));
  return head && latestOf(store, head);
}
