import type { Event, ParkedEvent, UnparkedEvent } from "../../snapshot/event.ts";
import type { Parked } from "../../snapshot/snapshot.ts";
import type { EpochMs } from "../../values/json.ts";
import type { Draft } from "./draft.ts";

/** True while an execution is parked and may not move. */
export function rests({ parked }: { readonly parked?: Parked | undefined }, now: EpochMs): boolean {
  return parked !== undefined && (parked.until === undefined || now < parked.until);
}

/** What an event of parking puts into the head. */
export function parkedBy({ code, message, at, until }: ParkedEvent): Parked {
  return Object.freeze({ code, message, at, ...(until !== undefined && { until }) });
}

/** Parks an execution, or ends that. */
export function park(draft: Draft, event: ParkedEvent | UnparkedEvent): boolean {
  if (event.type === "unparked" && !draft.parked) return false;
  draft.parked = event.type === "parked" ? parkedBy(event) : undefined;
  draft.results = [];
  draft.endedPaths = [];
  draft.version = event.version;
  return true;
}

/** Whether an event ends parking: a step was performed, or the execution was cancelled. Answers and signals do not end it. */
export function endsParking(event: Event): boolean {
  switch (event.type) {
    case "completed":
    case "failed":
    case "suspended":
    case "spawned":
    case "timedOut":
    case "delivered":
      return true;
    case "resumed":
      return event.by === "timer";
    case "cancelled":
      return event.scope === undefined && event.pathIds === undefined;
    default:
      return false;
  }
}
