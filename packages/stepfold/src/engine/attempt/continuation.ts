import type { CompiledWorkflow } from "../../core/definition/compiled.ts";
import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { NextRun } from "../../core/transition/begin-run.ts";
import { deadlineOf } from "../../core/transition/draft/deadline.ts";
import { scheduleWorkflowId } from "../../core/values/ids/reserved-ids.ts";
import { isJsonObject, type Json } from "../../core/values/json.ts";
import { normalise } from "../../core/values/to-json.ts";
import { checkInput, firstNode } from "../workflow/start-event.ts";
import type { AttemptState } from "./attempt-state.ts";
import { ifAllowed } from "./may.ts";
import type { Outcome } from "./outcome.ts";

/**
 * Checks the request to go on with the next run of the execution (`continueAs`), and returns the outcome that ends the present run.
 *
 * @throws StepfoldError `OUTPUT_INVALID`, `INPUT_INVALID`, `ACTION_DENIED`, `LIMIT_EXCEEDED`, `VALUE_NOT_JSON`, and what the `timeout` and
 * `start` of the definition throw; the step fails then, and the present run goes on
 */
export function continuation(run: AttemptState, request: unknown): Outcome | Promise<Outcome> {
  const { context, scopeDraft, task } = run;
  const { root } = scopeDraft;
  const refused = (message: string): StepfoldError =>
    new StepfoldError("OUTPUT_INVALID", { nodeId: task.nodeId, issues: [{ pointer: "/continueAs", message }] });
  if (task.undoes) throw refused("cannot be used in a compensation");
  if (scopeDraft !== root) throw refused("can only be used in a step of the execution itself, not in a sub-workflow or an item of a map");
  if (root.closing) throw refused("comes too late: the end of the execution is already decided");
  if (root.incarnation === undefined) throw refused("needs a runtime, which begins the next run");
  if (!isJsonObject(request as Json) || Object.keys(request as object).some((key) => key !== "input"))
    throw refused("must be an object with `input`, or empty");
  const { workflowId: id, definition, unnamed = false, tenant } = root;
  // schedules go on by themselves
  const may = definition.id === scheduleWorkflowId ? null : context.may;
  const from = { workflowId: id, definition, nodeId: task.nodeId, unnamed };
  return ifAllowed(may, { action: "continueAs", from, workflow: definition.id, id, tenant }, () => nextRun(run, request));
}

function nextRun(run: AttemptState, request: unknown): Outcome {
  const { context, startedAt, scopeDraft } = run;
  const { root } = scopeDraft;
  const input = safeMember(request, "input");
  const kept = input === undefined ? undefined : normalise(input, "The input of the next run", context.limits);
  const workflow = definitionNow(run);
  checkInput({ compiled: workflow }, kept?.value, context.limits);
  const at = context.now();
  const next: NextRun = {
    workflow,
    firstNodeId: firstNode({ compiled: workflow }, undefined),
    deadlineAt: deadlineOf(workflow, { input: kept?.value, metadata: root.metadata, at }),
    ...(kept && { input: kept.value }),
  };
  const ended = { startedAt, endedAt: at, output: null, sizeBytes: kept?.sizeBytes ?? 0 };
  return { type: "completed", ...ended, terminates: true, nextRun: next };
}

/** The definition that the name of the workflow has now. A worker that does not know the name keeps the present one. */
function definitionNow({ context, scopeDraft: { root } }: AttemptState): CompiledWorkflow {
  if (root.unnamed) return root.workflow;
  try {
    const { compiled } = context.workflowNamed(root.definition.id);
    return compiled.hash === root.workflow.hash ? root.workflow : compiled;
  } catch (error) {
    if (StepfoldError.is(error, "DEFINITION_UNKNOWN")) return root.workflow;
    throw error;
  }
}
