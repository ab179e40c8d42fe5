import { StepfoldError } from "../../core/errors/stepfold-error.ts";

/** Which execution a message names; null if it is no message of Stepfold. A queue on a server may hold what anybody has sent. */
export function workflowIdOf(body: unknown): string | null {
  const { workflowId } = (body ?? {}) as { readonly workflowId?: unknown };
  return typeof workflowId === "string" && workflowId !== "" ? workflowId : null;
}

/** What a consumer reports when it drops such a message: to have it again would not help. */
export function foreignMessage(queue: string): StepfoldError {
  return new StepfoldError("QUEUE_REJECTED", { queue, reason: "a message that names no execution was dropped" });
}
