import type { ChildEnd } from "../core/snapshot/parts/message.ts";
import type { Duration } from "../core/values/duration.ts";
import type { Json } from "../core/values/json.ts";
import { ChildFailure } from "../engine/node/child-failure.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** The data (input) of a `sendSignal` node; `sendSignalNode` describes the fields. */
export interface SendSignalData {
  readonly to?: string | undefined;
  readonly all?: boolean | undefined;
  readonly workflow?: string | undefined;
  readonly name: string;
  readonly key?: string | undefined;
  readonly payload?: Json | undefined;
  readonly ttl?: Duration | undefined;
}

/**
 * Node type `sendSignal`: sends a signal to another execution, for its nodes of type `signal` and `race`. It continues when the other
 * execution has the signal. Its output is the output of the node before, or the input if it is the first node.
 *
 * With `all: true` instead of `to`, the signal goes to all executions that wait for it under its `key` when it is delivered; `key` is
 * required then. With `workflow`, only those of this workflow get it. Each of them gets it once, and it is not kept for later waits
 * (so `ttl` is refused). The output is then
 * `{ reached, refused }`: how many executions have the signal, and how many refused the payload. If a crash interrupts the delivery,
 * executions that had the signal before are not counted again. More receivers than the limit `receivers` (1,000) fail the node with
 * `LIMIT_EXCEEDED`, and no execution gets the signal. `all` needs the option `may`, which is asked once (`action: "broadcast"`).
 *
 * `to` is the id of the other execution, `name` and `key` select the waits, and `payload` is what they get. If nothing waits for the
 * signal yet, it is kept for `ttl`, by default 30 days. It reaches the execution in any of its runs (`continueAs`).
 *
 * The signal arrives once, even after crashes: it is a part of the commit of this execution, and is delivered again until it has
 * arrived. It only reaches executions of the same tenant, and the option `may` of the runtime decides which (`action: "signal"`).
 * Without `may` it reaches this execution itself, the execution that started it, and the executions that it started. The `timeout` of
 * this node limits the time of the delivery; a late signal may still arrive. If this execution ends meanwhile, the signal may arrive
 * or not.
 *
 * The node fails with `WORKFLOW_NOT_FOUND` if there is no such execution, `EXECUTION_ENDED` if it has ended, `RESUME_INVALID` if it
 * refuses the payload, `LIMIT_EXCEEDED` if it keeps too many signals, and `ACTION_DENIED`. With a `retryPolicy` the signal is sent again,
 * except after `ACTION_DENIED`; the path leaves by the edge `error` if there is one. The node needs a runtime.
 *
 * ```ts
 * const tell = { id: "tell", type: "sendSignal", data: { to: "{{ input.order }}", name: "paid", payload: { amount: "{{ input.amount }}" } } };
 * ```
 */
export const sendSignalNode: NodeDefinition<SendSignalData, Json> = defineNode<SendSignalData, Json>({
  input: {
    title: "Send signal",
    type: "object",
    properties: {
      to: { title: "To", description: "Id of the execution that gets it", type: "string", minLength: 1, maxLength: 255 },
      all: { title: "To all", description: "To all executions that wait for it under this key, instead of one", type: "boolean" },
      workflow: {
        title: "Workflow",
        description: "With all: only executions of this workflow",
        type: "string",
        minLength: 1,
        maxLength: 1_000,
      },
      name: { title: "Name", description: "Name of the signal", type: "string", minLength: 1, maxLength: 1_000 },
      key: { title: "Key", description: "Only waits with the same key get it", type: "string", minLength: 1, maxLength: 1_000 },
      payload: { title: "Payload", description: "The payload of the signal" },
      ttl: {
        title: "Kept for",
        description: "How long it is kept if nobody waits for it: 2h, PT5M, milliseconds",
        type: ["string", "number"],
      },
    },
    required: ["name"],
    additionalProperties: false,
  },
  waits: true,
  pointless: ["heartbeatTimeout"],
  durations: ["ttl"],
  guards: ["name", "to", "all", "workflow", "key", "ttl"],
  metadata: {
    label: "Send signal",
    icon: "send",
    description: "Tells another execution that something has happened",
    category: "events",
    example: { to: "{{ input.order }}", name: "paid", payload: { amount: "{{ input.amount }}" } },
  },
  executor({ to, all, workflow, name, key, payload, ttl }, step) {
    const { resumed } = step;
    if (resumed?.by !== "delivery") return { __signal: { to, all, workflow, name, key, payload, ttl } };
    const end = resumed.payload as unknown as ChildEnd;
    if (!end.error) return { data: end.output ?? step.incoming };
    throw new ChildFailure(end);
  },
});
