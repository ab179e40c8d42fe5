import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";
import { type TimeAhead, timeFields, timestampOf } from "./data/timestamp.ts";

/** The data (input) of a `wait` node: exactly one of `for` and `until`. */
export type WaitData = TimeAhead;

/**
 * Node type `wait`: waits for a duration or until a moment. Meanwhile nothing runs, and no process is needed.
 *
 * Give either `for`, a duration counted from when the node begins (`"90s"`, `"2 days"`, `"PT5M"`, milliseconds), or
 * `until`, a moment: ISO 8601 with its offset (`"2026-01-31T09:00:00Z"`), a date alone (midnight UTC), or milliseconds
 * since 1970. After a moment in the past the path continues at once. No payload can end the wait early. The output is the output of
 * the node before, or the input if it is the first node.
 *
 * The `timeout` of the node limits the wait: after it, the path leaves by the handle `timeout`, or else by `error`; without both, the
 * execution fails.
 *
 * The node fails with `DURATION_INVALID` or `MOMENT_INVALID`, which are never retried, and with `LIMIT_EXCEEDED` beyond the limit of
 * timers (10 years).
 *
 * ```ts
 * const nextMorning = { id: "nextMorning", type: "wait", data: { until: "{{ input.deliverAt }}" } };
 * const coolDown = { id: "coolDown", type: "wait", data: { for: "15m" } };
 * ```
 */
export const waitNode: NodeDefinition<WaitData, Json> = defineNode<WaitData, Json>({
  input: {
    title: "Wait",
    type: "object",
    properties: timeFields,
    minProperties: 1,
    maxProperties: 1,
    additionalProperties: false,
  },
  waits: true,
  pointless: ["retryPolicy", "heartbeatTimeout"],
  durations: ["for"],
  moments: ["until"],
  guards: ["for", "until"],
  metadata: {
    label: "Wait",
    icon: "timer",
    description: "Goes on after a while, or at a moment",
    category: "time",
    example: { for: "15m" },
  },
  executor(data, step) {
    const now = step.now();
    // The timer has fired, so the wait is over. `now` does not count here: if this machine's clock runs behind, the node would wait again.
    if (step.resumed) return { data: step.incoming };
    const until = timestampOf(data, now);
    return until <= now ? { data: step.incoming } : step.suspend({ until }, { resumeAt: until });
  },
});
