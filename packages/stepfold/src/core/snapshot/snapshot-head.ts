import type { Snapshot, SnapshotHead } from "./snapshot.ts";

/** Returns the head of a snapshot: everything except what the history and the children hold. */
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

/** True if the value is a whole snapshot, not only its head. */
export function isWholeSnapshot(head: SnapshotHead): head is Snapshot {
  return "context" in head;
}
