import { isJsonObject, type Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/**
 * Node type `set`: its output is its data, with every `{{ expression }}` replaced by its value. Use it for values that later nodes share,
 * and to change the shape of a value.
 *
 * The data may be any JSON; without data the output is null. A member whose expression is undefined is left out.
 *
 * The member `vars` sets variables of the workflow, each through the reducer that is declared for it; later nodes read them as
 * `vars.NAME`. `vars` is not a part of the output. If there is no other member, the output is the output of the node before.
 *
 * ```ts
 * const order = { id: "order", type: "set", data: { total: "{{ input.price * input.count }}", currency: "EUR" } };
 * const again = { id: "again", type: "set", data: { vars: { tries: "{{ vars.tries + 1 }}" } } };
 * ```
 */
export const setNode: NodeDefinition<Json, Json> = defineNode<Json, Json>({
  pointless: ["timeout", "retryPolicy", "heartbeatTimeout"],
  metadata: {
    label: "Set",
    icon: "pencil-line",
    description: "Makes a value from constants and expressions, and sets variables",
    category: "data",
    example: { total: "{{ input.price * input.count }}", currency: "EUR" },
  },
  executor(data, { incoming }) {
    if (!isJsonObject(data) || data.vars === undefined) return { data };
    const { vars, ...others } = data;
    // `vars` may be any JSON here: the engine refuses it if it is not an object.
    return { data: Object.keys(others).length > 0 ? others : incoming, vars: vars as Readonly<Record<string, Json>> };
  },
});
