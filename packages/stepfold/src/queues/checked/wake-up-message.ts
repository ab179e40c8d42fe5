import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isWorkflowId } from "../../core/values/ids/id.ts";

/**
 * Returns the id of the execution that a message names; null if it is not a message of Stepfold. A queue on a server may hold messages that
 * others have sent.
 */
export function workflowIdOf(body: unknown): string | null {
  const { workflowId } = (body ?? {}) as { readonly workflowId?: unknown };
  return isWorkflowId(workflowId) ? workflowId : null;
}

/** The error that a consumer reports when it drops such a message, because another delivery would not help. */
export function foreignMessage(queue: string): StepfoldError {
  return new StepfoldError("QUEUE_REJECTED", { queue, reason: "a message that names no execution was dropped" });
}
