import type { Event } from "./event.ts";
import type { Json } from "./json.ts";
import type { NodeResult } from "./snapshot.ts";

/** The result that an event adds to the context, and the node it belongs to; null if it adds none. */
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

/** The context that a history adds up to: what a store does when it loads an execution. */
export function contextOf(events: Iterable<Event>): Record<string, NodeResult[]> {
  const context: Record<string, NodeResult[]> = {};
  for (const event of events) {
    const added = resultOf(event);
    if (!added) continue;
    if (!Object.hasOwn(context, added.nodeId)) context[added.nodeId] = [];
    context[added.nodeId]!.push(added.result);
  }
  return context;
}
