import type { Resumed } from "../core/snapshot/parts/wait.ts";
import { type EpochMs, isJsonObject, type Json, type JsonObject } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import { FatalError } from "../engine/node/fatal-error.ts";
import type { NodeDefinition } from "../engine/node/node-definition.ts";
import type { SuspendOptions } from "../engine/node/step-context.ts";
import { type RaceData, type RaceResult, raceSchema } from "./data/race-data.ts";
import { timestampOf } from "./data/timestamp.ts";

/**
 * Node type `race`: waits for several things at once, and leaves by the handle of the first one that happens. The others do not count
 * any more: a signal that comes later is kept for the next wait for it.
 *
 * There are from two to 100 contestants: `signals`, each with a `name` and, as in a node of type `signal`, `key` and `transient`; one
 * `timer`, with `for` or `until` as in a node of type `wait`; and one `answer`, a payload from outside that must fit `schema`. The
 * handle of a contestant is its `handle`, by default the signal's name, `timer` or `answer`. The handle needs an edge, else the node
 * fails with `HANDLE_UNKNOWN`. Contestants may share a handle, and signals of the same name must share one.
 *
 * The `timeout` of the node limits the race: after it, the path leaves by the handle `timeout`, or else by `error`; without both, the
 * execution fails. A `timer` is a contestant, and leaves by its own handle.
 *
 * Its output is `{ winner, payload }`: the handle, and the payload of the signal or answer, or null. A signal that was sent before wins
 * at once, also against a timer whose moment has passed.
 *
 * The node fails, and is never retried, with `DURATION_INVALID`, `MOMENT_INVALID`, or `RACE_AMBIGUOUS` if signals of the same name have
 * different handles.
 *
 * ```ts
 * const settle = {
 *   id: "settle",
 *   type: "race",
 *   data: { signals: [{ name: "paid" }, { name: "revoked", handle: "cancelled" }], timer: { for: "14 days", handle: "overdue" } },
 * };
 * // edges by "paid", "cancelled" and "overdue"; after "paid": "{{ nodes.settle.last.data.payload.amount }}"
 * ```
 */
export const raceNode: NodeDefinition<RaceData, RaceResult> = defineNode<RaceData, RaceResult>({
  input: raceSchema,
  output: {
    type: "object",
    properties: {
      winner: { title: "Winner", description: "The handle it left by", type: "string" },
      payload: { title: "Payload", description: "The payload of the winner, or null" },
    },
    required: ["winner", "payload"],
  },
  waits: true,
  outcomes: outcomesOf,
  pointless: ["retryPolicy", "heartbeatTimeout"],
  durations: ["timer/for"],
  moments: ["timer/until"],
  guards: ["signals", "timer", "answer"],
  metadata: {
    label: "Race",
    icon: "trophy",
    description: "Waits for whatever comes first: signals, a time, an answer",
    category: "events",
    example: { signals: [{ name: "paid" }, { name: "revoked" }], timer: { for: "14 days" } },
  },
  executor(data, step) {
    const { resumed } = step;
    if (!resumed) return step.suspend(undefined, contestants(data, step.now()));
    const winner = winnerOf(data, resumed);
    return { data: { winner, payload: resumed.payload ?? null }, nextHandle: winner };
  },
});

function contestants({ signals = [], timer, answer }: RaceData, now: EpochMs): SuspendOptions[] {
  const handles = new Map<string, string>();
  for (const { name, handle: own = name } of signals) {
    if ((handles.get(name) ?? own) !== own) {
      const error = new FatalError(
        `The signals named "${name.slice(0, 100)}" have different handles, so it could not be known which of them won`,
      );
      throw Object.assign(error, { code: "RACE_AMBIGUOUS" });
    }
    handles.set(name, own);
  }
  const waits: SuspendOptions[] = signals.map(({ name, key, transient }) => ({ signal: name, key, transient }));
  if (answer) waits.push({ schema: answer.schema });
  if (timer) waits.push({ resumeAt: timestampOf(timer, now) });
  return waits;
}

function winnerOf({ signals = [], timer, answer }: RaceData, { by, signal = "" }: Resumed): string {
  if (by === "timer") return timer?.handle ?? "timer";
  if (by === "payload") return answer?.handle ?? "answer";
  return signals.find(({ name }) => name === signal)?.handle ?? signal;
}

/** The handles of the contestants, as far as the data says them as written. */
function outcomesOf(data: Json): string[] {
  const { signals, timer, answer } = (isJsonObject(data) ? data : {}) as { readonly [K in keyof RaceData]: Json };
  const handles = [
    ...(Array.isArray(signals) ? signals : []).map((signal) => handleOf(signal as Json, (signal as Partial<JsonObject> | null)?.name)),
    ...(isJsonObject(timer) ? [handleOf(timer, "timer")] : []),
    ...(isJsonObject(answer) ? [handleOf(answer, "answer")] : []),
  ];
  return handles.filter((handle) => typeof handle === "string");
}

function handleOf(contestant: Json, otherwise: Json | undefined): Json | undefined {
  return isJsonObject(contestant) ? (contestant.handle ?? otherwise) : undefined;
}
