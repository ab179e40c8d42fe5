import type { Event, StartedEvent } from "../snapshot/event.ts";

/** Returns the metadata that the last of these events has set; undefined if none of them has set it. */
export function latestMetadata(events: readonly Event[]): StartedEvent["metadata"] | undefined {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index]!;
    if ((event.type === "metadataSet" || event.type === "completed") && event.metadata) return event.metadata;
  }
  return undefined;
}
