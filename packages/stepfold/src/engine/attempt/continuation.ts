import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isWorkflowId, successorId } from "../../core/values/id.ts";
import { isJsonObject, type Json } from "../../core/values/json.ts";
import { normalise } from "../../core/values/to-json.ts";
import { checkInput } from "../workflow/start-event.ts";
import type { AttemptState } from "./attempt-state.ts";
import type { Outcome } from "./outcome.ts";

/**
 * Checks the request to continue an execution as a new one (`continueAs`), and returns the outcome that ends this execution. The new
 * execution begins with the input of the request.
 */
export function continuation(run: AttemptState, request: unknown): Outcome {
  const { context, startedAt, scopeDraft, task } = run;
  const { root } = scopeDraft;
  const refused = (message: string): StepfoldError =>
    new StepfoldError("OUTPUT_INVALID", { nodeId: task.nodeId, issues: [{ pointer: "/continueAs", message }] });
  if (task.undoes) throw refused("cannot be used in a compensation");
  if (scopeDraft !== root) throw refused("can only be used in a step of the execution itself, not in a sub-workflow or an item of a map");
  if (root.closing) throw refused("comes too late: the end of the execution is already decided");
  if (root.incarnation === undefined) throw refused("needs a runtime, which begins the next execution");
  if (!isJsonObject(request as Json) || Object.keys(request as object).some((key) => key !== "input"))
    throw refused("must be an object with `input`, or empty");
  const workflowId = successorId(root.workflowId);
  if (!isWorkflowId(workflowId)) throw refused("is not possible: the id of the next execution would be longer than 255 characters");
  const input = safeMember(request, "input");
  const kept = input === undefined ? undefined : normalise(input, "The input of the next execution", context.limits);
  checkInput({ compiled: root.workflow }, kept?.value, context.limits);
  const continues = Object.freeze({ workflowId, ...(kept && { input: kept.value }) });
  return {
    type: "completed",
    startedAt,
    endedAt: context.now(),
    output: null,
    sizeBytes: kept?.sizeBytes ?? 0,
    terminates: true,
    continues,
  };
}
