import type { ChildEnd } from "../core/snapshot/message.ts";
import type { Json } from "../core/values/json.ts";
import { ChildFailure } from "../engine/node/child-failure.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** What a `workflow` node is given. */
export interface WorkflowData {
  readonly workflow: string;
  readonly input?: Json | undefined;
  /** Makes it an execution of its own. Default: it is a part of this one. */
  readonly detached?: boolean | undefined;
  /** Of a detached one: whether to go on only when it has ended. Default true. */
  readonly wait?: boolean | undefined;
  /** Of a detached one: its id. Default: made of the id of this execution and the place in it. */
  readonly workflowId?: string | undefined;
}

/**
 * Node type `workflow`: runs another workflow, and goes on when that has completed. Its output is the output of that.
 *
 * `workflow` names a definition in `workflows` of this workflow or of one around it, or one of those themselves by its
 * id: a workflow may run itself, 32 levels deep where the engine's limit `nesting` says nothing else. `input` is what the
 * other workflow sees as `input`, and nothing else of this one; null without it.
 *
 * The other workflow is a part of this execution. What it waits for is answered there, by the node or by the address
 * (`"bill/approve"`), and a cancellation ends it too. `timeout` of this node is how long it may take in all:
 * after that it is cancelled, and the path leaves by the handle `timeout`, else `error`, else the execution fails (`STEP_TIMEOUT`). With a
 * `retryPolicy` of this node it is begun once more, from its start, when it has failed or was not done in time; what it had done is undone first,
 * where it can be. Without `timeout` it may take any time; without `retryPolicy` it is begun once.
 *
 * With `detached` it is an execution of its own, with a `workflowId` to find, watch and answer it by, and may be driven by
 * another process. `workflow` then names one that the runtime (or engine) was given, in the version that is current when
 * this step runs. Either side may crash at any moment: what they tell each other is part of what they commit, and is
 * delivered again until it has arrived; it begins once, and its end is taken once. When this execution is cancelled,
 * fails, or ends by other paths, the detached one is cancelled. It is not undone with this execution: it undoes itself when
 * it is cancelled. With `wait: false` nothing ties the two together: the output is `{ workflowId }` at once. A `retryPolicy` begins another
 * one, under another id: with a `workflowId` of your own that is refused (`START_CONFLICT`), unless it depends on the attempt.
 *
 * Fails with the error that the other workflow failed with, `EXECUTION_CANCELLED` if only it was cancelled,
 * `DEFINITION_UNKNOWN` if an expression names none, `INPUT_INVALID` if its `input` schema refuses the input, and
 * `START_CONFLICT` if `workflowId` is that of an execution which this step did not begin; an edge with the handle `error`
 * is taken if there is one.
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
      detached: { title: "Detached", description: "Make it an execution of its own", type: "boolean", default: false },
      wait: { title: "Wait", description: "Detached: go on only when it has ended", type: "boolean", default: true },
      workflowId: { title: "Execution id", description: "Detached: its id, made up if none is given", type: "string", minLength: 1 },
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
  executor: ({ workflow, input, detached, wait, workflowId }, { resumed }) => {
    if (resumed?.by === "child") return { data: outputOf(resumed.payload as unknown as ChildEnd) };
    return { __children: detached ? { workflow, input, detached, wait, workflowId } : { workflow, input } };
  },
});

function outputOf({ status, output = null, error }: ChildEnd): Json {
  if (status === "completed") return output;
  const { name = "Error", message = "The workflow was cancelled", code = "EXECUTION_CANCELLED" } = error ?? {};
  throw Object.assign(new ChildFailure(message), { name, code, stack: undefined });
}
