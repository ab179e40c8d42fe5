import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { Continuation, NodeDefinition, NodeOutput } from "../engine/node/node-definition.ts";

/** The data (input) of an `end` node; `endNode` describes the fields. */
export interface EndData {
  readonly output?: Json | undefined;
  readonly terminate?: boolean | undefined;
  readonly continueAs?: Continuation | undefined;
}

/**
 * Node type `end`: ends its path, so that a reader of the graph sees where. Its output is `output`, or null without it.
 * Edges that leave an `end` are never taken.
 *
 * Other paths continue. If the workflow has no `output` of its own, the output of the path that ends last is the output of the
 * execution. With `terminate: true` all other paths end too, with their waits, timers and children, and the execution completes with
 * this output, unless the workflow has an `output` of its own. In a sub-workflow or an item of a map, only that sub-workflow or item
 * ends. Default: false.
 *
 * With `continueAs: { input }` the run of the execution ends here, and its next run begins: the same execution, at its first node, with this
 * input and without results. Signals that no step has waited for, variables and metadata stay. So an execution can go on for years. This
 * needs a runtime, and is refused in a sub-workflow or an item of a map. Default: the execution does not go on.
 *
 * ```ts
 * const again = { id: "again", type: "end", data: { continueAs: { input: { count: "{{ nodes.count.last.data }}" } } } };
 * const done = { id: "done", type: "end", data: { output: { receipt: "{{ nodes.charge.last.data.receipt }}" } } };
 * const enough = { id: "enough", type: "end", data: { output: "first offer taken", terminate: true } };
 * ```
 */
export const endNode: NodeDefinition<EndData | null, Json, unknown, never> = defineNode<EndData | null, Json, unknown, never>({
  input: {
    title: "End",
    type: ["object", "null"],
    properties: {
      output: { title: "Output", description: "The output of the path, or of the execution" },
      continueAs: {
        title: "Continue as",
        description: "Ends this run of the execution, and begins its next run with this input",
        type: "object",
        properties: { input: { title: "Input" } },
        additionalProperties: false,
      },
      terminate: { title: "Terminate", description: "Ends all other paths too. Default: they go on", type: "boolean" },
    },
    additionalProperties: false,
  },
  handles: [],
  pointless: ["timeout", "retryPolicy", "heartbeatTimeout"],
  guards: ["terminate"],
  metadata: {
    label: "End",
    icon: "flag",
    description: "Ends this path, or everything, with a result",
    category: "flow",
    example: { output: { receipt: "{{ nodes.charge.last.data.receipt }}" } },
  },
  executor(data): NodeOutput<Json, never> {
    const { output = null, terminate = false, continueAs } = data ?? {};
    if (continueAs) return { continueAs };
    return terminate ? { data: output, terminate, nextHandles: [] } : { data: output, nextHandles: [] };
  },
});
