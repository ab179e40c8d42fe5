import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/**
 * Node type `noop`: does nothing. It is a place where branches meet or fork, or a placeholder for a later node.
 *
 * Its output is its data, if it has any; else the output of the node before (at a join, of the first branch), or the input if it is the
 * first node.
 *
 * ```ts
 * const together = { id: "together", type: "noop" };
 * ```
 */
export const noopNode: NodeDefinition<Json, Json> = defineNode<Json, Json>({
  pointless: ["timeout", "retryPolicy", "heartbeatTimeout"],
  metadata: {
    label: "Do nothing",
    icon: "circle-dashed",
    description: "A place where branches meet or part",
    category: "flow",
    example: null,
  },
  executor: (data, step) => ({ data: data ?? step.incoming }),
});
