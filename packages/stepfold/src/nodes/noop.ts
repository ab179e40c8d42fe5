import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/**
 * Node type `noop`: does nothing. A place for branches to meet, to fork from, or to fill in later.
 *
 * Its output is its data, if it has any; else it passes on what came: the output of the node before (at a join, of the first
 * branch), or the input where it is the first.
 *
 * ```ts
 * const together = { id: "together", type: "noop" };
 * ```
 */
export const noopNode: NodeDefinition<Json, Json> = defineNode<Json, Json>({
  metadata: {
    label: "Do nothing",
    icon: "circle-dashed",
    description: "A place where branches meet or part",
    category: "flow",
    example: null,
  },
  executor: (data, step) => ({ data: data ?? step.incoming }),
});
