import type { Snapshot, SnapshotHead } from "./snapshot.ts";

/** The head of a snapshot: all of it but what the history and the children hold. */
export function snapshotHead(snapshot: Snapshot): SnapshotHead {
  const {
    context: _,
    variables: __,
    childStates: ___,
    mapItems: ____,
    compensations: _____,
    answered: ______,
    schemas: _______,
    ...head
  } = snapshot;
  return head;
}

/** Whether a head is that of a snapshot that was loaded as a whole. */
export function isWholeSnapshot(head: SnapshotHead): head is Snapshot {
  return "context" in head;
}
