import { type Snapshot, StepfoldError, waits } from "stepfold";
import type { Runtime } from "stepfold/runtime";
import { hasNothingToWaitFor } from "../execution/status.ts";
import type { Session } from "./session.ts";

/** Whether executions that this one waits for, directly or through others, are still running. */
export async function othersRunning(snapshot: Snapshot, session: Pick<Session, "runtime" | "now">): Promise<boolean> {
  for (const { workflowId } of waits(snapshot)) {
    if (workflowId === undefined) continue;
    const other = await find(workflowId, session.runtime);
    // an execution that has ended counts too: it will soon report its end to this one
    if (other && (!hasNothingToWaitFor(other, session.now()) || other.activePaths.length === 0 || (await othersRunning(other, session))))
      return true;
  }
  return false;
}

/** Loads an execution; null if it was deleted. */
async function find(workflowId: string, runtime: Runtime): Promise<Snapshot | null> {
  try {
    const run = await runtime.get(workflowId);
    return await run.snapshot();
  } catch (error) {
    if (StepfoldError.is(error, "WORKFLOW_NOT_FOUND")) return null;
    throw error;
  }
}
