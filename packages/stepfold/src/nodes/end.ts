import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { Continuation, NodeDefinition, NodeOutput } from "../engine/node/node-definition.ts";

/** What an `end` node is given. */
export interface EndData {
  readonly output?: Json | undefined;
  readonly terminate?: boolean | undefined;
  readonly continueAs?: Continuation | undefined;
}

/**
 * Node type `end`: ends its path, so that a reader of the graph sees where. Its output is `output`, null without one.
 * Edges that leave an `end` are never taken.
 *
 * Other paths go on, and where the workflow has no `output` of its own, the output of the path that ends last is that of
 * the execution. With `terminate: true` nothing goes on: all other paths end too, with their waits, timers and children,
 * and the execution completes with this output. In a sub-workflow or an item of a map only that one ends. Default: false.
 *
 * With `continueAs: { input }` the execution ends here and goes on as a new one, at its first node and with this input: its history begins
 * anew, and signals that no step has waited for are handed over. So an execution can go on for years. Default: it does not.
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
      output: { title: "Output", description: "What comes of it" },
      continueAs: {
        title: "Continue as",
        description: "Ends this execution, which goes on as a new one with this input",
        type: "object",
        properties: { input: { title: "Input" } },
        additionalProperties: false,
      },
      terminate: { title: "Terminate", description: "Ends all other paths too. Default: they go on", type: "boolean" },
    },
    additionalProperties: false,
  },
  handles: [],
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
