import type { Json } from "../core/json.ts";
import { defineNode } from "../engine/define-node.ts";
import type { NodeDefinition } from "../engine/node-definition.ts";

/** What a `workflow` node is given. */
export interface WorkflowData {
  readonly workflow: string;
  readonly input?: Json | undefined;
}

/**
 * Node type `workflow`: runs another workflow, and goes on when that has completed. Its output is the output of that.
 *
 * `workflow` names a definition in `workflows` of this workflow or of one around it, or one of those themselves by its
 * id: a workflow may run itself, 32 levels deep where the engine's limit `nesting` says nothing else. `input` is what the
 * other workflow sees as `input`, and nothing else of this one; null without it.
 *
 * The other workflow is a part of this execution. What it waits for is answered there, by the node or by the address
 * (`"bill/approve"`), and a cancellation ends it too. It may take any time, and is not run again when it fails: `timeout`
 * and `retryPolicy` of this node are only about beginning it.
 *
 * Fails with the error that the other workflow failed with, `EXECUTION_CANCELLED` if only it was cancelled,
 * `DEFINITION_UNKNOWN` if an expression names none, and `INPUT_INVALID` if its `input` schema refuses the input; an edge
 * with the handle `error` is taken if there is one.
 *
 * ```ts
 * const bill = { id: "bill", type: "workflow", data: { workflow: "invoice", input: { order: "{{ input.order }}" } } };
 * // later: "{{ nodes.bill.last.data.total }}"
 * ```
 */
export const workflowNode: NodeDefinition<WorkflowData, Json> = defineNode<WorkflowData, Json>({
  input: {
    title: "Workflow",
    type: "object",
    properties: {
      workflow: { title: "Workflow", description: "The workflow to run: its name in workflows", type: "string", minLength: 1 },
      input: { title: "Input", description: "What it is started with" },
    },
    required: ["workflow"],
    additionalProperties: false,
  },
  metadata: {
    label: "Workflow",
    icon: "workflow",
    description: "Runs another workflow, and goes on with its output",
    category: "flow",
    example: { workflow: "invoice", input: { order: "{{ input.order }}" } },
  },
  executor: ({ workflow, input }) => ({ __children: { workflow, input } }),
});
