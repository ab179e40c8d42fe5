import type { Json } from "../core/json.ts";
import { defineNode } from "../engine/define-node.ts";
import type { NodeDefinition, NodeOutput } from "../engine/node-definition.ts";

/**
 * Node type `end`: ends its path, so that a reader of the graph sees where. Other paths go on.
 *
 * Its output is its data. Where the workflow has no `output` of its own, the output of the path that ends last is that
 * of the execution. Edges that leave an `end` are never taken.
 *
 * ```ts
 * const done = { id: "done", type: "end", data: { receipt: "{{ nodes.charge.last.data.receipt }}" } };
 * ```
 */
export const endNode: NodeDefinition<Json, Json, unknown, never> = defineNode<Json, Json, unknown, never>({
  handles: [],
  metadata: {
    label: "End",
    icon: "flag",
    description: "Ends this path, with a result",
    category: "flow",
    example: { receipt: "{{ nodes.charge.last.data.receipt }}" },
  },
  executor: (data): NodeOutput<Json, never> => ({ data: data ?? null, nextHandles: [] }),
});
