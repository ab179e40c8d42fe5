import type { Snapshot, SnapshotHead } from "./snapshot.ts";

/** The head of a snapshot: all of it but what the history and the children hold. */
export function snapshotHead(snapshot: Snapshot): SnapshotHead {
  const { context: _, childStates: __, mapItems: ___, compensations: ____, answered: _____, schemas: ______, ...head } = snapshot;
  return head;
}

/** Whether a head is that of a snapshot that was loaded as a whole. */
export function isWholeSnapshot(head: SnapshotHead): head is Snapshot {
  return "context" in head;
}
