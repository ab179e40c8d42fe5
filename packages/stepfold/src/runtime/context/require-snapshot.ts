import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { SnapshotStore } from "../../ports/snapshot-store.ts";

/** @throws StepfoldError `WORKFLOW_NOT_FOUND` */
export async function requireSnapshot(store: SnapshotStore, workflowId: string): Promise<Snapshot> {
  const snapshot = await store.load(workflowId);
  if (!snapshot) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
  return snapshot;
}
