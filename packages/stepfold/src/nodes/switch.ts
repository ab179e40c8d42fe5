import { canonicalJson } from "../core/canonical-json.ts";
import type { Json } from "../core/json.ts";
import { defineNode } from "../engine/define-node.ts";
import type { NodeDefinition } from "../engine/node-definition.ts";

/** One way out of a `switch`. */
export interface SwitchCase {
  readonly equals: Json;
  readonly handle: string;
}

/** What a `switch` node is given. */
export interface SwitchData {
  readonly value?: Json | undefined;
  readonly cases: readonly SwitchCase[];
}

/** Where it left, and the value that decided. */
export interface SwitchResult {
  readonly value: Json;
  readonly handle: string;
}

/**
 * Node type `switch`: leaves by the handle of the first case that equals `value`, else by the handle `default`. Its
 * output is `{ value, handle }`.
 *
 * Equal means equal as JSON: types count (`1` is not `"1"`), the order of keys does not. A missing `value` is null.
 *
 * Every handle that is taken needs an edge, `default` too: a value that nobody thought of fails the node with
 * `HANDLE_UNKNOWN` instead of ending the path unseen. Where it is meant to end, draw an edge `default` to a node of type
 * `end`.
 *
 * ```ts
 * const route = {
 *   id: "route",
 *   type: "switch",
 *   data: {
 *     value: "{{ input.country }}",
 *     cases: [
 *       { equals: "DE", handle: "domestic" },
 *       { equals: "AT", handle: "europe" },
 *       { equals: "FR", handle: "europe" },
 *     ],
 *   },
 * };
 * ```
 */
export const switchNode: NodeDefinition<SwitchData, SwitchResult> = defineNode<SwitchData, SwitchResult>({
  input: {
    title: "Switch",
    type: "object",
    properties: {
      value: { title: "Value", description: "What decides. An expression, such as {{ input.country }}" },
      cases: {
        title: "Cases",
        description: "Read from the top; the first that is equal is taken, else the handle default",
        type: "array",
        items: {
          type: "object",
          properties: {
            equals: { title: "Equals", description: "The value of this case; types count" },
            handle: { title: "Handle", description: "The handle to leave by", type: "string", minLength: 1, maxLength: 128 },
          },
          required: ["equals", "handle"],
          additionalProperties: false,
        },
      },
    },
    required: ["cases"],
    additionalProperties: false,
  },
  metadata: {
    label: "Switch",
    icon: "git-fork",
    description: "Goes one of many ways",
    category: "flow",
    example: { value: "{{ input.country }}", cases: [{ equals: "DE", handle: "domestic" }] },
  },
  executor({ value = null, cases }) {
    const wanted = canonicalJson(value);
    const handle = cases.find(({ equals }) => canonicalJson(equals) === wanted)?.handle ?? "default";
    return { data: { value, handle }, nextHandle: handle };
  },
});
