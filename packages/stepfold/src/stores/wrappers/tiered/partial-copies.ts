import { isTerminal, type SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import { readHistory } from "../../../ports/read-history.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";
import { isCopy, isPartial } from "./cold-copy.ts";

/**
 * Deletes a partial copy that will not be completed, for example because its original is deleted: a move deletes an original only after its
 * copy is complete. The copy is cancelled first, because only ended executions can be deleted.
 */
export async function deletePartialCopy(store: SnapshotStore, workflowId: string): Promise<void> {
  const snapshot = await store.load(workflowId);
  const last = (await readHistory(store, workflowId)).at(-1);
  if (!snapshot || !last || !isCopy(snapshot) || !isPartial(snapshot)) return;
  if (!isTerminal(snapshot.status)) {
    const { incarnation = "", version: expectedVersion } = snapshot;
    const version = expectedVersion + 1;
    const head: SnapshotHead = { ...snapshotHead(snapshot), status: "cancelled", version };
    const event = { type: "cancelled", version, at: last.event.at, reason: "deleted while it was moved" } as const;
    const commitId = `buried-${incarnation}`;
    await store.commit({ workflowId, incarnation, expectedVersion, commitId, head, events: [event], wakeAt: null });
  }
  await store.delete(workflowId);
}
