import type { SnapshotHead } from "../../core/snapshot/snapshot.ts";
import { successorId } from "../../core/values/id.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** Where the execution stands that goes on in place of one that has ended: the one that it named, or was restarted as. Null if there is none. */
export async function successorOf(store: SnapshotStore, ended: SnapshotHead): Promise<SnapshotHead | null> {
  if (ended.continuedAs) return store.loadHead(ended.continuedAs.workflowId);
  return ended.status === "failed" || ended.status === "cancelled" ? restartOf(store, ended) : null;
}

/** Where the execution stands that an execution was restarted as, which may have been deleted since; null if it was not. */
export async function restartOf(
  store: SnapshotStore,
  { workflowId, incarnation }: Pick<SnapshotHead, "workflowId" | "incarnation">,
): Promise<SnapshotHead | null> {
  const head = await store.loadHead(successorId(workflowId));
  const from = head?.from;
  return from?.reason === "restart" && from.workflowId === workflowId && from.incarnation === incarnation ? head : null;
}

/** The last execution of a chain of successors: the given one if it has none. */
export async function latestOf(store: SnapshotStore, head: SnapshotHead): Promise<SnapshotHead> {
  for (let latest = head; ; ) {
    const next = await successorOf(store, latest);
    if (!next) return latest;
    latest = next;
  }
}
