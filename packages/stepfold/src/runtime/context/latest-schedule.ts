import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { scheduleIdOf } from "../../core/values/reserved-ids.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** Name of the signal that brings a schedule its commands and the news of its executions. */
export const scheduleSignal = "schedule";

/** Returns the head of a schedule; null if there is none. */
export function latestSchedule(store: SnapshotStore, name: string): Promise<SnapshotHead | null> {
  return store.loadHead(scheduleIdOf(name));
}
