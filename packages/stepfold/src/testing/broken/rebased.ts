import type { Commit } from "../../ports/snapshot-store.ts";

/** Returns the commit as if it had been made for another version. */
export function rebased(commit: Commit, expectedVersion: number): Commit {
  const events = commit.events.map((event, index) => ({ ...event, version: expectedVersion + 1 + index }));
  return { ...commit, expectedVersion, events, head: { ...commit.head, version: expectedVersion + events.length } };
}
