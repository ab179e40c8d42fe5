import type { ChangedChild, Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";

/** A child that a commit puts. */
export function child(key: string, steps: number): ChangedChild {
  return { key, head: { status: "active", currentNodeId: "x", activePaths: [], steps } as never };
}

/** A child that a commit deletes. */
export function gone(key: string): ChangedChild {
  return { key, head: null };
}

/** Commits one after the other; the first creates the execution. */
export async function writeAll(store: SnapshotStore, commits: readonly Commit[]): Promise<void> {
  for (const commit of commits) await (commit.expectedVersion < 0 ? store.create(commit) : store.commit(commit));
}
