import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/**
 * Node type `set`: its output is its data, with every `{{ expression }}` resolved. For values that later nodes share,
 * and to give something another shape.
 *
 * Data may be any JSON; none at all gives null. A member whose expression gives undefined is left out.
 *
 * ```ts
 * const order = { id: "order", type: "set", data: { total: "{{ input.price * input.count }}", currency: "EUR" } };
 * ```
 */
export const setNode: NodeDefinition<Json, Json> = defineNode<Json, Json>({
  metadata: {
    label: "Set",
    icon: "pencil-line",
    description: "Makes a value from constants and expressions",
    category: "data",
    example: { total: "{{ input.price * input.count }}", currency: "EUR" },
  },
  executor: (data) => ({ data }),
});
