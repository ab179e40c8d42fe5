import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Snapshot, SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { snapshotHead } from "../../../core/snapshot/snapshot-head.ts";
import type { AppendedRow, Commit, ExecutionSummary, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { tieredMark } from "./cold-copy.ts";

/**
 * Makes the commit that moves a waiting execution: it becomes a redirect in the hot store, which has ended there, and lives in
 * the cold store from then on. The hot store refuses it if anything was committed since the execution was copied.
 */
export function redirectCommit(snapshot: Snapshot, at: number): Commit {
  const { workflowId, incarnation = "", version: expectedVersion } = snapshot;
  const version = expectedVersion + 1;
  const head: SnapshotHead = { ...snapshotHead(snapshot), version, status: "cancelled", currentNodeId: tieredMark, activePaths: [] };
  const event = { type: "cancelled", version, at, reason: "moved to the cold store" } as const;
  return { workflowId, incarnation, expectedVersion, commitId: `${tieredMark} ${version}`, head, events: [event], wakeAt: null };
}

/** Tells whether the hot store has a redirect in the place of an execution. */
export function isRedirect({ status, currentNodeId }: Pick<ExecutionSummary, "status" | "currentNodeId">): boolean {
  return status === "cancelled" && currentNodeId === tieredMark;
}

/** Tells whether this row has made a redirect. */
export function isRedirectRow({ commitId, event }: AppendedRow): boolean {
  return event.type === "cancelled" && commitId.startsWith(`${tieredMark} `);
}

/** Tells whether this version of an execution is a redirect. */
export async function isRedirectAt(hot: SnapshotStore, workflowId: string, version: number): Promise<boolean> {
  const [row] = await hot.events(workflowId, version - 1, 1);
  return row !== undefined && isRedirectRow(row);
}

/**
 * Tells what the hot store has of an execution whose commit it refused: a redirect, or nothing of this incarnation. Null if it
 * refused the commit for another reason.
 */
export async function hotStateAfter(
  hot: SnapshotStore,
  { workflowId, expectedVersion }: Commit,
  error: unknown,
): Promise<"redirect" | "nothing" | null> {
  if (StepfoldError.is(error, "EXECUTION_ENDED")) return (await isRedirectAt(hot, workflowId, expectedVersion)) ? "redirect" : null;
  if (!StepfoldError.is(error, "VERSION_CONFLICT")) return null;
  const { actual } = error.details;
  if (actual === null) return "nothing";
  return (await isRedirectAt(hot, workflowId, actual)) ? "redirect" : null;
}
