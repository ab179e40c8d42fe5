import type { Event } from "stepfold/core";

/** The number of events up to a version. */
export function countUpTo(events: readonly Event[], version: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (events[middle]!.version <= version) low = middle + 1;
    else high = middle;
  }
  return low;
}
