import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal, type Snapshot, type SnapshotHead, type Status } from "../../core/snapshot/snapshot.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { requireHead, requireSnapshot } from "../context/store/require-snapshot.ts";
import type { OpenSessions } from "../local/open-sessions.ts";
import { type Change, ChangesOf } from "./changes-of.ts";

/**
 * Calls `find` with the snapshots of an execution from now on, and resolves to its first result that is not null. While the execution runs
 * here, usually no snapshot is loaded, because the session publishes its commits.
 *
 * @param matters whether `find` may have a result for a status. A change to another status does not load the snapshot, which may be large
 */
export async function waitUntil<T>(
  context: RuntimeContext,
  sessions: OpenSessions,
  workflowId: string,
  matters: (status: Status) => boolean,
  find: (snapshot: Snapshot) => T | null,
  end: AbortSignal,
): Promise<T> {
  const changes = new ChangesOf(context, sessions, { workflowId, end, matters });
  try {
    for (let change: Change | null = null; ; change = await changes.next()) {
      if (!change && sessions.isBefore(workflowId, matters)) continue;
      const snapshot = committedIn(change) ?? (await requireSnapshot(context.store, workflowId));
      const found = find(snapshot);
      if (found !== null) return found;
      changes.known = snapshot;
    }
  } finally {
    changes.close();
  }
}

/**
 * Returns the snapshot after a commit of this process. Null if another process has made the change, or if the draft has changed since the
 * commit: then its snapshot may not be committed yet.
 */
function committedIn(change: Change | null): Snapshot | null {
  const snapshot = change?.snapshot?.();
  return snapshot?.version === change?.version ? (snapshot ?? null) : null;
}

/**
 * Returns the snapshot of an execution once it has ended, or once it is parked because something could not be undone: then its end is
 * certain. While the execution runs here, nothing is loaded: the session publishes the end. Otherwise only the head is read until the end.
 */
export async function waitUntilEnded(
  context: RuntimeContext,
  sessions: OpenSessions,
  workflowId: string,
  end: AbortSignal,
): Promise<Snapshot> {
  const changes = new ChangesOf(context, sessions, { workflowId, end, matters: mayHaveEnded });
  try {
    for (let change: Change | null = null; ; change = await changes.next()) {
      if (change?.status === null) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
      const snapshot = change?.snapshot?.();
      if (snapshot && hasEnded(snapshot)) return snapshot;
      if (snapshot || sessions.isBefore(workflowId, mayHaveEnded)) continue;
      const head = change?.head ?? (await requireHead(context.store, workflowId));
      if (hasEnded(head)) return await requireSnapshot(context.store, workflowId);
      changes.known = head;
    }
  } finally {
    changes.close();
  }
}

function mayHaveEnded(status: Status): boolean {
  return isTerminal(status) || status === "parked";
}

function hasEnded({ status, ending }: SnapshotHead): boolean {
  return isTerminal(status) || (status === "parked" && ending?.again !== undefined);
}
