import type { ChildEnd } from "../core/snapshot/parts/message.ts";
import type { Json } from "../core/values/json.ts";
import { ChildFailure } from "../engine/node/child-failure.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** The data (input) of a `workflow` node; `workflowNode` describes the fields. */
export interface WorkflowData {
  readonly workflow: string;
  readonly input?: Json | undefined;
  /** True runs the other workflow as an execution of its own. Default: it is a part of this execution. */
  readonly detached?: boolean | undefined;
  /** Only with `detached`: whether this path continues only when the other execution has ended. Default: true. */
  readonly wait?: boolean | undefined;
  /** Only with `detached`: the id of the other execution. Default: an id made from the id of this execution and the place in it. */
  readonly workflowId?: string | undefined;
}

/**
 * Node type `workflow`: runs another workflow, and continues when that workflow has completed. Its output is the output of that workflow.
 *
 * `workflow` names a definition in `workflows` of this workflow or of a workflow around it, or it is the id of one of these workflows:
 * a workflow may run itself, 32 levels deep if the engine's limit `nesting` does not say otherwise. The other workflow sees `input` as
 * its `input`, and nothing else of this workflow. Default: null.
 *
 * The other workflow is a part of this execution. Its waits are answered through this execution, by the node or by the address
 * (`"bill/approve"`), and a cancellation ends it too. The `timeout` of this node limits its whole time. After that it is cancelled, and
 * the path leaves by the handle `timeout`, or else by `error`; without both, the execution fails (`STEP_TIMEOUT`). With a `retryPolicy`
 * of this node it begins again from its start when it has failed or has not ended in time; its work is undone first where this is
 * possible. Without `timeout` there is no time limit; without `retryPolicy` it begins only once.
 *
 * With `detached` the other workflow is an execution of its own. It has a `workflowId` by which it is found, watched and answered, and
 * another process may run it. `workflow` then names a workflow that the runtime (or engine) was given, in the version that is current
 * when this step runs. Both executions may crash at any moment: a message to the other one is a part of a commit, and is delivered again
 * until it has arrived. So the other execution begins once, and its end is taken once. When this execution is cancelled, fails, or ends
 * by other paths, the other one is cancelled. It is not undone with this execution, but undoes itself when it is cancelled. With
 * `wait: false` nothing ties the two together: the output is `{ workflowId }` at once. A `retryPolicy` begins another execution under
 * another id. A `workflowId` of your own therefore fails with `START_CONFLICT`, unless it depends on the attempt.
 *
 * The node fails with the error of the other workflow, `EXECUTION_CANCELLED` if only the other workflow was cancelled,
 * `DEFINITION_UNKNOWN` if an expression names no known workflow, `INPUT_INVALID` if the schema of the other workflow refuses the input,
 * and `START_CONFLICT` if `workflowId` is the id of an execution which this step did not begin. The path leaves by an edge with the
 * handle `error` if there is one.
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
      input: { title: "Input", description: "The input of the other workflow" },
      detached: { title: "Detached", description: "Make it an execution of its own", type: "boolean", default: false },
      wait: { title: "Wait", description: "Detached: go on only when it has ended", type: "boolean", default: true },
      workflowId: { title: "Execution id", description: "Detached: its id, made up if none is given", type: "string", minLength: 1 },
    },
    required: ["workflow"],
    additionalProperties: false,
  },
  waits: true,
  pointless: ["heartbeatTimeout"],
  guards: ["workflow", "detached", "wait", "workflowId"],
  metadata: {
    label: "Workflow",
    icon: "workflow",
    description: "Runs another workflow, and goes on with its output",
    category: "flow",
    example: { workflow: "invoice", input: { order: "{{ input.order }}" } },
  },
  executor: ({ workflow, input, detached, wait, workflowId }, { resumed }) => {
    if (resumed?.by === "child") return { data: outputOf(resumed.payload as unknown as ChildEnd) };
    return { __children: detached ? { workflow, input, detached, wait, workflowId } : { workflow, input } };
  },
});

function outputOf(end: ChildEnd): Json {
  if (end.status === "completed") return end.output ?? null;
  throw new ChildFailure(end);
}
