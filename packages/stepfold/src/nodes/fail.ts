import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import { FatalError } from "../engine/node/fatal-error.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** The data (input) of a `fail` node; `failNode` describes the fields. */
export interface FailData {
  readonly message: string;
  readonly code?: string | undefined;
  readonly details?: Json | undefined;
}

/**
 * Node type `fail`: fails with a message of your own and is never retried. The path leaves by an edge with the handle `error` if there
 * is one; else the execution fails.
 *
 * `code` and `details` are kept with the error, for programs: after the edge `error` as `$json.code` and `$json.details`, and in the
 * `error` of the snapshot. Details are any JSON of at most 32 KB.
 *
 * ```ts
 * const refuse = { id: "refuse", type: "fail", data: { message: "No stock of {{ input.item }}", code: "OUT_OF_STOCK", details: { item: "{{ input.item }}" } } };
 * ```
 */
export const failNode: NodeDefinition<FailData, never, unknown, never> = defineNode<FailData, never, unknown, never>({
  input: {
    title: "Fail",
    type: "object",
    properties: {
      message: { title: "Message", description: "What went wrong, for people", type: "string", minLength: 1 },
      code: { title: "Code", description: "What went wrong, for programs", type: "string", minLength: 1, maxLength: 100 },
      details: { title: "Details", description: "Further facts about the error, for programs; any JSON of at most 32 KB" },
    },
    required: ["message"],
    additionalProperties: false,
  },
  handles: [],
  pointless: ["timeout", "retryPolicy", "heartbeatTimeout"],
  metadata: {
    label: "Fail",
    icon: "octagon-x",
    description: "Ends with an error",
    category: "flow",
    example: { message: "No stock of {{ input.item }}", code: "OUT_OF_STOCK" },
  },
  executor({ message, code, details }) {
    // The definition asks for this failure. No code has failed, so the error has no stack.
    throw Object.assign(new FatalError(message, { details }), { stack: undefined, ...(code !== undefined && { code }) });
  },
});
