import type { Duration } from "../core/values/duration.ts";
import type { Json, JsonSchema } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** What a `signal` node is given. */
export interface SignalData {
  readonly name: string;
  readonly key?: string | undefined;
  readonly transient?: boolean | undefined;
  readonly timeout?: Duration | undefined;
  readonly schema?: JsonSchema | undefined;
}

/**
 * Node type `signal`: waits for a signal of this `name`, from outside. Its output is the payload that came with it, null
 * if none did.
 *
 * With `key` only a signal with the same key is meant, without it only one that has none. A signal that came before is
 * kept (30 days, where its sender says nothing else) and taken at once, the oldest first; with `transient: true` only one
 * that comes while the node waits counts. One signal lets one wait go on: of several the oldest.
 *
 * A payload that does not fit `schema` is refused with `RESUME_INVALID` while the node waits, and changes nothing. One
 * that was kept is held against it when it is taken; where it does not fit the node fails, with the same code.
 *
 * After `timeout` the path leaves by the handle `timeout`, else `error`, else the execution fails. Default: no timeout.
 *
 * ```ts
 * const paid = { id: "paid", type: "signal", data: { name: "paid", key: "{{ input.order }}", timeout: "14 days" } };
 * // later: await run.signal("paid", { amount: 40 }, { key: "order-7" });
 * ```
 */
export const signalNode: NodeDefinition<SignalData, Json> = defineNode<SignalData, Json>({
  input: {
    title: "Signal",
    type: "object",
    properties: {
      name: { title: "Name", description: "Name of the signal", type: "string", minLength: 1, maxLength: 1_000 },
      key: { title: "Key", description: "Only a signal with the same key is meant", type: "string", minLength: 1, maxLength: 1_000 },
      transient: { title: "Transient", description: "A signal that came before does not count. Default: it does", type: "boolean" },
      timeout: { title: "Timeout", description: "How long to wait: 2 days, PT5M, milliseconds", type: ["string", "number"] },
      schema: { title: "Schema", description: "JSON Schema of the payload", type: ["object", "boolean"] },
    },
    required: ["name"],
    additionalProperties: false,
  },
  metadata: {
    label: "Signal",
    icon: "radio",
    description: "Waits until something has happened elsewhere",
    category: "events",
    example: { name: "paid", key: "{{ input.order }}", timeout: "14 days" },
  },
  executor({ name, key, transient, timeout, schema }, step) {
    const { resumed } = step;
    if (resumed) return { data: resumed.payload ?? null };
    return step.suspend(undefined, { signal: name, key, transient, timeout, schema });
  },
});
