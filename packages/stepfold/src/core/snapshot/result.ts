import type { Json } from "../values/json.ts";
import type { AnsweredKey } from "./answered-key.ts";
import type { CompletedEvent, Event, FailedEvent, TimedOutEvent } from "./event.ts";
import type { NodeResult } from "./snapshot.ts";

/** The result that an event brings, and its node; null if it brings none. */
export function resultOf(event: CompletedEvent | FailedEvent | TimedOutEvent): { readonly nodeId: string; readonly result: NodeResult };
export function resultOf(event: Event): { readonly nodeId: string; readonly result: NodeResult } | null;
export function resultOf(event: Event): { readonly nodeId: string; readonly result: NodeResult } | null {
  switch (event.type) {
    case "completed": {
      const { output, at, attempt, pathId, version } = event;
      return { nodeId: event.nodeId, result: Object.freeze({ output, timestamp: at, attempt, pathId, version }) };
    }
    case "failed":
    case "timedOut": {
      const { at, attempt, pathId, version, error, handle } = event;
      // on the edge "error" the failure is the data that the next node works on
      const output = handle === "error" ? (error as unknown as Json) : null;
      return { nodeId: event.nodeId, result: Object.freeze({ output, timestamp: at, attempt, error: error.message, pathId, version }) };
    }
    default:
      return null;
  }
}

/** The key that an event was given under; null if it has none. */
export function answeredKeyOf(event: Event): AnsweredKey | null {
  if (!isAnsweredEvent(event) || event.idempotencyKey === undefined) return null;
  return Object.freeze({ command: commands[event.type], key: event.idempotencyKey, version: event.version });
}

/** By the events that they make, the commands that may be given a key. */
const commands = { resumed: "resume", signalled: "signal", metadataSet: "setMetadata" } as const;

const answeredTypes: ReadonlySet<string> = new Set(Object.keys(commands));

/** An event that a command may make only once. */
export type AnsweredEvent = Extract<Event, { type: keyof typeof commands }>;

/** Whether a command may make an event like this only once. */
export function isAnsweredEvent(event: Event): event is AnsweredEvent {
  return answeredTypes.has(event.type);
}
