import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isJsonObject, type Json } from "../../core/values/json.ts";
import { normalise } from "../../core/values/to-json.ts";
import { deadlineOf } from "../../core/transition/draft/deadline.ts";
import type { Continuation } from "../../core/transition/begin-run.ts";
import { checkInput, firstNode } from "../workflow/start-event.ts";
import type { PreparedWorkflow } from "../workflow/prepared-workflow.ts";
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
  if (root.incarnation === undefined) throw refused("needs a runtime, which begins the next run");
  if (!isJsonObject(request as Json) || Object.keys(request as object).some((key) => key !== "input"))
    throw refused("must be an object with `input`, or empty");
  const input = safeMember(request, "input");
  const kept = input === undefined ? undefined : normalise(input, "The input of the next run", context.limits);
  const next = definitionNow(run);
  checkInput(next, kept?.value, context.limits);
  const firstNodeId = firstNode(next, undefined);
  const at = context.now();
  const deadlineAt = deadlineOf(next.compiled, { input: kept?.value, metadata: root.metadata, at });
  const continues: Continuation = { workflow: next.compiled, firstNodeId, deadlineAt, ...(kept && { input: kept.value }) };
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

/** The definition that the name of the workflow has now. A worker that does not know the name keeps the present one. */
function definitionNow({ context, scopeDraft: { root } }: AttemptState): Pick<PreparedWorkflow, "compiled"> {
  if (root.unnamed) return { compiled: root.workflow };
  try {
    return context.workflowNamed(root.definition.id);
  } catch (error) {
    if (StepfoldError.is(error, "DEFINITION_UNKNOWN")) return { compiled: root.workflow };
    throw error;
  }
}
