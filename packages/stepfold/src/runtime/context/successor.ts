import type { Origin, SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { successorId } from "../../core/values/id.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

type Ended = Pick<SnapshotHead, "workflowId" | "incarnation">;

/**
 * Returns the head of the successor of an execution that has ended: the execution that it goes on as (`continueAs`), or its restart. Null
 * if there is no successor, if it was deleted, or if another execution has taken its id since.
 */
export async function successorOf(store: SnapshotStore, ended: SnapshotHead): Promise<SnapshotHead | null> {
  const { continuedAs, status } = ended;
  if (continuedAs) return successorAt(store, continuedAs.workflowId, ended, "continueAs");
  return status === "failed" || status === "cancelled" ? restartOf(store, ended) : null;
}

/** Returns the head of the restart of an execution; null if there is none. The execution itself may have been deleted since. */
export function restartOf(store: SnapshotStore, ended: Ended): Promise<SnapshotHead | null> {
  return successorAt(store, successorId(ended.workflowId), ended, "restart");
}

/** Returns the head of the execution with an id if it was begun as the successor of `ended` and for this reason; else null. */
export async function successorAt(
  store: SnapshotStore,
  workflowId: string,
  ended: Ended,
  reason: Origin["reason"],
): Promise<SnapshotHead | null> {
  const head = await store.loadHead(workflowId);
  const from = head?.from;
  return from?.reason === reason && from.workflowId === ended.workflowId && from.incarnation === ended.incarnation ? head : null;
}

/** Returns the last execution of a chain of successors: the given one if it has no successor. */
export async function latestOf(store: SnapshotStore, head: SnapshotHead): Promise<SnapshotHead> {
  for (let latest = head; ; ) {
    const next = await successorOf(store, latest);
    if (!next) return latest;
    latest = next;
  }
}
