import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import type { Claim } from "../../ports/snapshot-store.ts";
import { isLacking, leftError } from "../context/lacking.ts";
import type { RuntimeContext } from "../context/runtime-context.ts";
import { giveBack } from "../local/give-back.ts";
import { parkLacking } from "./park.ts";

/** The workflow of a claimed execution; or that the execution was left to others. */
export type WorkflowOrLeft = { readonly workflow: PreparedWorkflow } | { readonly parked: Snapshot | null };

/**
 * Returns the workflow of a claimed execution. If this process cannot run it (its definition, the code of a node or a detached
 * workflow that it names is missing, or the code does not take the data of a node), the claim is given back, the host is told once, and from now on claims of this process leave the
 * executions of this definition to others. Any other error is thrown after the claim was given back.
 */
export async function workflowOrLeave(
  context: RuntimeContext,
  loaded: { readonly claim: Claim; readonly snapshot: Snapshot },
): Promise<WorkflowOrLeft> {
  const { registry, store, environment } = context;
  const { claim, snapshot } = loaded;
  const { workflowId, definition } = snapshot;
  try {
    // an execution that was claimed without its permit performs no step, so it needs no code
    const isEnding = claim.withoutPermit === true;
    const workflow = await (isEnding
      ? registry.pinnedForCommands(workflowId, definition.hash)
      : registry.pinned(workflowId, definition.hash));
    registry.ensureUsedStored(workflow, environment.monotonicMs());
    return { workflow };
  } catch (error) {
    if (isLacking(error) && !store.features.taskQueues) return { parked: await parkLacking(context, loaded, error) };
    if (isLacking(error)) reportOnce(context, loaded, error);
    // the claim is given back so that it does not count as a crash: this process has not died
    await giveBack(store, claim, snapshot.version).catch(() => undefined);
    if (isLacking(error)) return { parked: null };
    throw error;
  }
}

function reportOnce(
  context: RuntimeContext,
  { claim, snapshot }: { readonly claim: Claim; readonly snapshot: Snapshot },
  error: StepfoldError,
): void {
  const { lacking, environment, onProblem } = context;
  const { workflowId, definition } = snapshot;
  const lacked = lacking.add(definition, error, { since: claim.claimedAt, nowMs: environment.monotonicMs() });
  if (!lacked) return;
  onProblem(workflowId, leftError(workflowId, lacked));
}
