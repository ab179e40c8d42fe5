import type { Json } from "../values/json.ts";
import type { CompletedEvent, Event, FailedEvent, TimedOutEvent } from "./event.ts";
import type { AnsweredKey } from "./parts/answered-key.ts";
import type { NodeResult } from "./snapshot.ts";

/** Returns the result of the step that an event reports, and its node; null if there is none. `consequences` may hold further results. */
export function resultOf(event: CompletedEvent | FailedEvent | TimedOutEvent): { readonly nodeId: string; readonly result: NodeResult };
export function resultOf(event: Event): { readonly nodeId: string; readonly result: NodeResult } | null;
export function resultOf(event: Event): { readonly nodeId: string; readonly result: NodeResult } | null {
  switch (event.type) {
    case "completed": {
      const { output, at, attempt, pathId, version, visit, undo } = event;
      const result = { output, timestamp: at, attempt, pathId, version };
      if (visit === undefined) return { nodeId: event.nodeId, result: Object.freeze(result) };
      const whole = { ...result, acted: Object.freeze({ visit }), ...(undo && { undo }) };
      return { nodeId: event.nodeId, result: Object.freeze(whole) };
    }
    case "failed":
    case "timedOut": {
      const { at, attempt, pathId, version, error, handle } = event;
      // if the path leaves by the edge "error", the error is the data of the next node
      const output = handle === "error" ? (error as unknown as Json) : null;
      return { nodeId: event.nodeId, result: Object.freeze({ output, timestamp: at, attempt, error: error.message, pathId, version }) };
    }
    default:
      return null;
  }
}

/** Returns the record of the idempotency key of an event, which the execution remembers; null if the event has no key. */
export function answeredKeyOf(event: Event): AnsweredKey | null {
  if (!isAnsweredEvent(event) || event.idempotencyKey === undefined) return null;
  return Object.freeze({ command: commands[event.type], key: event.idempotencyKey, version: event.version, at: event.at });
}

/** The commands that may have an idempotency key, by the type of their event. */
const commands = { resumed: "resume", signalled: "signal", metadataSet: "setMetadata", restarted: "restart" } as const;

const answeredTypes: ReadonlySet<string> = new Set(Object.keys(commands));

/** An event of a command that may have an idempotency key. With the same key the event happens only once. */
export type AnsweredEvent = Extract<Event, { type: keyof typeof commands }>;

/** True for an event of a command that may have an idempotency key. */
export function isAnsweredEvent(event: Event): event is AnsweredEvent {
  return answeredTypes.has(event.type);
}
