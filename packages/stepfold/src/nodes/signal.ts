import type { Duration } from "../core/values/duration.ts";
import type { Json, JsonSchema } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** The data (input) of a `signal` node; `signalNode` describes the fields. */
export interface SignalData {
  readonly name: string;
  readonly key?: string | undefined;
  readonly transient?: boolean | undefined;
  readonly timeout?: Duration | undefined;
  readonly schema?: JsonSchema | undefined;
}

/**
 * Node type `signal`: waits for a signal of this `name` from outside. Its output is the payload of the signal, or null if it has none.
 *
 * With `key`, only a signal with the same key counts; without `key`, only a signal without one. A signal that came before is kept (30
 * days, if its sender does not say otherwise) and taken at once, the oldest first. With `transient: true` only a signal counts that
 * comes while the node waits. One signal ends one wait: if several nodes wait for it, the oldest wait; waits in sub-workflows and items
 * of maps only if the execution itself has none.
 *
 * While the node waits, a payload that does not fit `schema` is refused with `RESUME_INVALID` and changes nothing. A kept payload is
 * checked when it is taken; if it does not fit, the node fails with the same code.
 *
 * After `timeout`, or the `timeout` of the node if that is shorter, the path leaves by the handle `timeout`, or else by `error`; without both,
 * the execution fails. Default: no timeout.
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
      key: { title: "Key", description: "Only a signal with the same key counts", type: "string", minLength: 1, maxLength: 1_000 },
      transient: { title: "Transient", description: "A signal that came before does not count. Default: it does", type: "boolean" },
      timeout: { title: "Timeout", description: "How long to wait: 2 days, PT5M, milliseconds", type: ["string", "number"] },
      schema: { title: "Schema", description: "JSON Schema of the payload", type: ["object", "boolean"] },
    },
    required: ["name"],
    additionalProperties: false,
  },
  waits: true,
  pointless: ["retryPolicy", "heartbeatTimeout"],
  durations: ["timeout"],
  guards: ["name", "key", "transient", "timeout", "schema"],
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
