import type { WorkflowDefinition } from "stepfold/core";
import type { ExecutionState } from "../model/replay/execution-state.ts";

/** The type of a step that code has asked for. The definition does not know these steps, so their types are not known here. */
const stepType = "step";

/**
 * Returns the steps that code has asked for up to a version, in the order of their first events. None: the workflow is a graph, or its code has not
 * asked for anything yet.
 */
export function stepsOfCode({ code, nodes: [frame] }: WorkflowDefinition, state: ExecutionState | null): readonly string[] {
  return code === undefined ? [] : [...(state?.nodes.keys() ?? [])].filter((nodeId) => nodeId !== frame?.id);
}

/** Returns the definition that is drawn: steps of code take the place of the node that holds the code. It is their frame, and nothing waits there. */
export function drawnDefinition(definition: WorkflowDefinition, steps: readonly string[]): WorkflowDefinition {
  return steps.length === 0 ? definition : { ...definition, nodes: steps.map((id) => ({ id, type: stepType })) };
}
