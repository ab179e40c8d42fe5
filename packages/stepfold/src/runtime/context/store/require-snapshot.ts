import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Snapshot, SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../../ports/snapshot-store.ts";

/** Loads an execution. @throws StepfoldError `WORKFLOW_NOT_FOUND` */
export async function requireSnapshot(store: SnapshotStore, workflowId: string): Promise<Snapshot> {
  const snapshot = await store.load(workflowId);
  if (!snapshot) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
  return snapshot;
}

/** Reads the head of an execution, without its history. @throws StepfoldError `WORKFLOW_NOT_FOUND` */
export async function requireHead(store: SnapshotStore, workflowId: string): Promise<SnapshotHead> {
  const head = await store.loadHead(workflowId);
  if (!head) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
  return head;
}
