import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Snapshot, SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import type { ExecutionSummary } from "../../../ports/execution-list.ts";
import type { AppendedRow, Commit, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { tieredMark } from "./cold-copy.ts";

/**
 * Makes the commit that moves a waiting execution. It turns the execution in the hot store into a redirect with a terminal status; from
 * then on the execution lives in the cold store. The hot store refuses this commit if the execution was changed since it was copied.
 */
export function redirectCommit(snapshot: Snapshot, at: number): Commit {
  const { workflowId, incarnation = "", version: expectedVersion } = snapshot;
  const version = expectedVersion + 1;
  const head: SnapshotHead = { ...snapshotHead(snapshot), version, status: "cancelled", currentNodeId: tieredMark, activePaths: [] };
  const event = { type: "cancelled", version, at, reason: "moved to the cold store" } as const;
  return { workflowId, incarnation, expectedVersion, commitId: `${tieredMark} ${version}`, head, events: [event], wakeAt: null };
}

/** Returns true if an execution of the hot store is a redirect, also one that `bringBack` is making a copy of. */
export function isRedirect({ status, currentNodeId }: Pick<ExecutionSummary, "status" | "currentNodeId">): boolean {
  return status === "cancelled" && currentNodeId === tieredMark;
}

/** Returns true if a row of the history is that of a redirect. */
export function isRedirectRow({ commitId, event }: AppendedRow): boolean {
  return event.type === "cancelled" && commitId.startsWith(`${tieredMark} `);
}

/** Returns true if an execution of the hot store is a redirect at this version. */
export async function isRedirectAt(hot: SnapshotStore, workflowId: string, version: number): Promise<boolean> {
  const [row] = await hot.events(workflowId, version - 1, 1);
  return row !== undefined && isRedirectRow(row);
}

/**
 * Says what the hot store has after it refused a commit: a redirect, or nothing of this incarnation. Null if the store refused the commit
 * for another reason.
 */
export async function hotStateAfter(hot: SnapshotStore, { workflowId }: Commit, error: unknown): Promise<"redirect" | "nothing" | null> {
  const isConflict = StepfoldError.is(error, "VERSION_CONFLICT");
  if (isConflict && error.details.actual === null) return "nothing";
  if (!isConflict && !StepfoldError.is(error, "EXECUTION_ENDED")) return null;
  const head = await hot.loadHead(workflowId);
  return head && isRedirect(head) ? "redirect" : null;
}
