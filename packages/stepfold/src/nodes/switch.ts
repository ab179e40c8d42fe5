import { canonicalJson } from "../core/values/canonical-json.ts";
import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** One case of a `switch`, with exactly one of `equals` and `when`. */
export interface SwitchCase {
  readonly equals?: Json | undefined;
  readonly when?: boolean | undefined;
  readonly handle: string;
}

/** The data (input) of a `switch` node; `switchNode` describes the fields. */
export interface SwitchData {
  readonly value?: Json | undefined;
  readonly cases: readonly SwitchCase[];
  readonly every?: boolean | undefined;
}

/**
 * Node type `switch`: leaves by the handle of the first case that fits, else by the handle `default`. Its output is the output of the
 * node before, or the input if it is the first node.
 *
 * A case with `equals` fits a `value` that is equal as JSON: types count (`1` is not `"1"`), the order of keys does not. A missing
 * `value` is null. A case with `when` fits if `when` is true: `"{{ input.total > 100 }}"`. Only true and false are allowed: if a value
 * may be missing, write `"{{ input.vip ?? false }}"`.
 *
 * With `every: true` the path leaves by the handles of all cases that fit, in their order and each once, or by `default` if no case
 * fits.
 *
 * Every handle that is taken needs an edge, also `default`: an unexpected value fails the node with `HANDLE_UNKNOWN` and does not end
 * the path silently. If the path should end there, draw an edge `default` to a node of type `end`.
 *
 * Data of any other form fails with `DATA_INVALID`.
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
export const switchNode: NodeDefinition<SwitchData, Json> = defineNode<SwitchData, Json>({
  input: {
    title: "Switch",
    type: "object",
    properties: {
      value: { title: "Value", description: "What decides. An expression, such as {{ input.country }}" },
      cases: {
        title: "Cases",
        description: "Read from the top; the first that fits is taken, else the handle default",
        type: "array",
        items: {
          type: "object",
          properties: {
            equals: { title: "Equals", description: "The value of this case; types count" },
            when: { title: "When", description: "Instead: true or false, such as {{ input.total > 100 }}", type: "boolean" },
            handle: { title: "Handle", description: "The handle to leave by", type: "string", minLength: 1, maxLength: 128 },
          },
          required: ["handle"],
          oneOf: [{ required: ["equals"] }, { required: ["when"] }],
          additionalProperties: false,
        },
      },
      every: { title: "Every", description: "Takes all cases that fit, not only the first. Default: no", type: "boolean" },
    },
    required: ["cases"],
    additionalProperties: false,
  },
  pointless: ["timeout", "retryPolicy", "heartbeatTimeout"],
  guards: ["every"],
  metadata: {
    label: "Switch",
    icon: "git-fork",
    description: "Goes one of many ways, or several",
    category: "flow",
    example: { value: "{{ input.country }}", cases: [{ equals: "DE", handle: "domestic" }] },
  },
  executor({ value = null, cases, every }, step) {
    const wanted = canonicalJson(value);
    const fits = ({ equals, when }: SwitchCase): boolean => (equals === undefined ? when === true : canonicalJson(equals) === wanted);
    if (!every) {
      const handle = cases.find(fits)?.handle ?? "default";
      return { data: step.incoming, nextHandle: handle };
    }
    const fitting = new Set(cases.filter(fits).map(({ handle }) => handle));
    const handles = fitting.size === 0 ? ["default"] : [...fitting];
    return { data: step.incoming, nextHandles: handles };
  },
});
