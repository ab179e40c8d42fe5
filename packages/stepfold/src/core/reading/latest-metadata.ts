import type { Event, StartedEvent } from "../snapshot/event.ts";

/** Returns the metadata after the last of these events that has changed it; undefined if none has. The event `started` does not count. */
export function latestMetadata(events: readonly Event[]): StartedEvent["metadata"] | undefined {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index]!;
    if ((event.type === "metadataSet" || event.type === "completed") && event.metadata) return event.metadata;
  }
  return undefined;
}
