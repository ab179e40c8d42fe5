import type { Parked } from "../snapshot/snapshot.ts";
import type { Json } from "../values/json.ts";
import { invalid, object, text, time } from "./read-value.ts";

/** Checks the field `parked` of a snapshot. */
export function readParked(value: Json): Parked {
  const parked = object(value, "/parked", "must be an object with code, message and at");
  text(parked.code, "/parked/code");
  if (typeof parked.message !== "string") return invalid("/parked/message", "must be text");
  if (time(parked.at, "/parked/at") === undefined) return invalid("/parked/at", "must be a number of milliseconds");
  time(parked.until, "/parked/until");
  return parked as unknown as Parked;
}
