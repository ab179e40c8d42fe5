import type { EpochMs } from "../values/json.ts";
import type { Parked } from "./snapshot.ts";

/** The first and the longest rest of an execution that a process cannot run, but perhaps another one. */
const firstRestMs = 1_000;
const maxRestMs = 15 * 60_000;

/** Until when an execution rests that a process cannot run: twice as long as it has rested for this before. */
export function restUntil(parked: Parked | undefined, at: EpochMs): EpochMs {
  const restedMs = parked?.until === undefined ? 0 : parked.until - parked.at;
  return at + Math.min(Math.max(firstRestMs, 2 * restedMs), maxRestMs);
}
