import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** Id of the workflow of which every schedule is an execution. */
export const scheduleWorkflowId = "stepfold-schedule";
/** Name of the signal that brings a schedule its commands and the news of its executions. */
export const scheduleSignal = "schedule";

/** Returns the id of a schedule. */
export function scheduleIdOf(name: string): string {
  return `schedule:${name}`;
}

/** Returns the head of a schedule; null if there is none. */
export function latestSchedule(store: SnapshotStore, name: string): Promise<SnapshotHead | null> {
  return store.loadHead(scheduleIdOf(name));
}
