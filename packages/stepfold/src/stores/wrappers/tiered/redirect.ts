import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Snapshot, SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { AppendedRow, Commit, ExecutionSummary, SnapshotStore } from "../../../ports/snapshot-store.ts";
import { key } from "./cold-copy.ts";
import { headOf } from "./copy-execution.ts";

/**
 * The write that makes a waiting execution live in the cold store: what stays in the hot one is a stub, which has ended
 * there. It is refused if anything was committed since the execution was copied.
 */
export function stubCommit(snapshot: Snapshot, at: number): Commit {
  const { workflowId, incarnation = "", version: expectedVersion } = snapshot;
  const version = expectedVersion + 1;
  const stub: SnapshotHead = { ...headOf(snapshot), version, status: "cancelled", currentNodeId: key, activePaths: [] };
  const event = { type: "cancelled", version, at, reason: "moved to the cold store" } as const;
  return { workflowId, incarnation, expectedVersion, commitId: `${key} ${version}`, head: stub, events: [event], wakeAt: null };
}

/** True for what in the hot store stands for an execution that lives in the cold one. */
export function isStub({ status, currentNodeId }: Pick<ExecutionSummary, "status" | "currentNodeId">): boolean {
  return status === "cancelled" && currentNodeId === key;
}

/** True for the row that made a stub. */
export function isStubRow({ commitId, event }: AppendedRow): boolean {
  return event.type === "cancelled" && commitId.startsWith(`${key} `);
}

/** True if a stub was made by this version. */
export async function isStubAt(hot: SnapshotStore, workflowId: string, version: number): Promise<boolean> {
  const [row] = await hot.events(workflowId, version - 1, 1);
  return row !== undefined && isStubRow(row);
}

/**
 * What the hot store has of an execution whose commit it refused: a stub, or nothing of this incarnation. Null where that is
 * not why it was refused.
 */
export async function placeAfter(
  hot: SnapshotStore,
  { workflowId, expectedVersion }: Commit,
  error: unknown,
): Promise<"stub" | "gone" | null> {
  if (StepfoldError.is(error, "EXECUTION_ENDED")) return (await isStubAt(hot, workflowId, expectedVersion)) ? "stub" : null;
  if (!StepfoldError.is(error, "VERSION_CONFLICT")) return null;
  const { actual } = error.details;
  if (actual === null) return "gone";
  return (await isStubAt(hot, workflowId, actual)) ? "stub" : null;
}
