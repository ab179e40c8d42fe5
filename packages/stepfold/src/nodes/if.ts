import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** The data (input) of an `if` node. */
export interface IfData {
  readonly condition?: Json | undefined;
}

/**
 * Node type `if`: leaves by the handle `true` or `false`. Its output is the output of the node before, or the input if it is the first
 * node.
 *
 * `condition` counts as in JavaScript: false, 0, "", null and undefined are false. Everything else is true, also the texts `"false"`
 * and `"0"`, `[]` and `{}`. So write the whole comparison as one expression:
 * `"{{ input.total > 100 }}"`, never `"{{ input.total }} > 100"`, which is a text and therefore true.
 *
 * A handle without an edge ends the path.
 *
 * ```ts
 * const large = { id: "large", type: "if", data: { condition: "{{ input.total > 100 }}" } };
 * const edges = [
 *   { source: "large", sourceHandle: "true", target: "approve" },
 *   { source: "large", sourceHandle: "false", target: "charge" },
 * ];
 * ```
 */
export const ifNode: NodeDefinition<IfData, Json, unknown, "true" | "false"> = defineNode<IfData, Json, unknown, "true" | "false">({
  input: {
    title: "If",
    type: "object",
    properties: {
      condition: {
        title: "Condition",
        description: "One expression, such as {{ input.total > 100 }}. False, 0, empty text, null and what is missing are false.",
      },
    },
    additionalProperties: false,
  },
  handles: ["true", "false"],
  conditions: ["condition"],
  pointless: ["timeout", "retryPolicy", "heartbeatTimeout"],
  metadata: {
    label: "If",
    icon: "split",
    description: "Goes one way or the other",
    category: "flow",
    example: { condition: "{{ input.total > 100 }}" },
  },
  executor({ condition }, step) {
    return { data: step.incoming, nextHandle: condition ? "true" : "false" };
  },
});
