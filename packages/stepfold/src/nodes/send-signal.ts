import type { ChildEnd } from "../core/snapshot/message.ts";
import type { Duration } from "../core/values/duration.ts";
import type { Json } from "../core/values/json.ts";
import { ChildFailure } from "../engine/node/child-failure.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";

/** What a `sendSignal` node is given. */
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
 * Node type `sendSignal`: sends a signal to another execution, for its nodes of type `signal` and `race`. It goes on when the other execution has it,
 * and passes on what came.
 *
 * With `all: true` instead of `to` it goes to all executions that wait for it under its `key` when it is delivered, with `workflow` only to those of this
 * workflow; each gets it once, and nobody keeps it. The output is then `{ reached, refused }`: how many have it, and how many did not take the
 * payload; after a crash between, those who had it before are not counted again. More than the limit `receivers` (1,000) are `LIMIT_EXCEEDED`, and nobody gets it. This needs the option `may`, which is asked once (`action: "broadcast"`).
 *
 * `to` is the id of that execution, `name` and `key` say which waits are meant, `payload` is what they are given. Where nobody waits for
 * it yet it is kept for `ttl`, 30 days by default. One that has gone on as a new execution (`continueAs`) is followed.
 *
 * It arrives once, whatever crashes: it is part of what this execution commits, and is delivered again until it has arrived. It only reaches
 * executions of the same tenant, and the option `may` of the runtime decides which (`action: "signal"`); without it, only itself, the execution that
 * has begun this one, and those that this one has begun. `timeout` of this node is how long the
 * delivery may take; a signal that is late may still arrive. If this execution ends meanwhile, it may arrive or not.
 *
 * Fails with `WORKFLOW_NOT_FOUND` if there is no such execution, `EXECUTION_ENDED` if it has ended, `RESUME_INVALID` if it refuses the payload,
 * `LIMIT_EXCEEDED` if it keeps too many signals, and `ACTION_DENIED`. By a `retryPolicy` it is sent once more (`ACTION_DENIED` is not); the edge `error` is
 * taken if there is one. Needs a runtime.
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
      workflow: { title: "Workflow", description: "Of all only those that run this one", type: "string", minLength: 1, maxLength: 1_000 },
      name: { title: "Name", description: "Name of the signal", type: "string", minLength: 1, maxLength: 1_000 },
      key: { title: "Key", description: "Only waits with the same key are meant", type: "string", minLength: 1, maxLength: 1_000 },
      payload: { title: "Payload", description: "What it brings" },
      ttl: {
        title: "Kept for",
        description: "How long it is kept if nobody waits for it: 2h, PT5M, milliseconds",
        type: ["string", "number"],
      },
    },
    required: ["name"],
    additionalProperties: false,
  },
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
    const { output, error } = resumed.payload as unknown as ChildEnd;
    if (!error) return { data: output ?? step.incoming };
    const { name: kind, message, code } = error;
    throw Object.assign(new ChildFailure(message), { name: kind, code, stack: undefined });
  },
});
