import type { Origin, SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { successorId } from "../../core/values/id.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

type Ended = Pick<SnapshotHead, "workflowId" | "incarnation">;

/**
 * Where the execution stands that goes on in place of one that has ended: the one that it named, or was restarted as. Null if there is none,
 * if it was deleted, and if its id was taken by another execution since.
 */
export async function successorOf(store: SnapshotStore, ended: SnapshotHead): Promise<SnapshotHead | null> {
  const { continuedAs, status } = ended;
  if (continuedAs) return successorAt(store, continuedAs.workflowId, ended, "continueAs");
  return status === "failed" || status === "cancelled" ? restartOf(store, ended) : null;
}

/** Where the execution stands that an execution was restarted as, which may have been deleted since; null if it was not. */
export function restartOf(store: SnapshotStore, ended: Ended): Promise<SnapshotHead | null> {
  return successorAt(store, successorId(ended.workflowId), ended, "restart");
}

/** Where the execution with an id stands, if it was begun in place of another one and for this reason; else null. */
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

/** The last execution of a chain of successors: the given one if it has none. */
export async function latestOf(store: SnapshotStore, head: SnapshotHead): Promise<SnapshotHead> {
  for (let latest = head; ; ) {
    const next = await successorOf(store, latest);
    if (!next) return latest;
    latest = next;
  }
}
