import { isTerminal, type SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { historyOf } from "../values/read-all.ts";
import { isCopy, isUnfinished } from "./cold-copy.ts";
import { headOf } from "./copy-execution.ts";

/**
 * Ends an unfinished copy, because only what has ended can be deleted. What waits there and is no copy is somebody else's.
 *
 * Only for one whose original is gone: an original is deleted after its copy counts, so this one never will.
 */
export async function buryCopy(cold: SnapshotStore, workflowId: string): Promise<void> {
  const snapshot = await cold.load(workflowId);
  const last = (await historyOf(cold, workflowId)).at(-1);
  if (!snapshot || !last || !isCopy(snapshot) || !isUnfinished(snapshot)) return;
  if (!isTerminal(snapshot.status)) {
    const { incarnation = "", version: expectedVersion } = snapshot;
    const version = expectedVersion + 1;
    const head: SnapshotHead = { ...headOf(snapshot), status: "cancelled", version };
    const event = { type: "cancelled", version, at: last.event.at, reason: "deleted while it was moved" } as const;
    const commitId = `buried-${incarnation}`;
    await cold.commit({ workflowId, incarnation, expectedVersion, commitId, head, events: [event], wakeAt: null });
  }
  await cold.delete(workflowId);
}
