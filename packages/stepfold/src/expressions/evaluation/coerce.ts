import { charge, exceeded, type Frame, failEvaluation, grow } from "./frame.ts";
import { plainCopy } from "./plain-copy.ts";
import { kindOf } from "./read-member.ts";

/** A number as JavaScript makes it from a simple value. Objects and arrays are no numbers, and say so. */
export function toNumber(frame: Frame, position: number, value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "string") return Number(numeral(frame, value));
  if (typeof value === "boolean" || value === null || value === undefined) return Number(value);
  return failEvaluation(frame, position, `${kindOf(value)} is no number`);
}

/** Pays for reading into a text: an engine may first have to put it together from the pieces it was built of. */
export function readable(frame: Frame, text: string): string {
  charge(frame, text.length >>> 12);
  return text;
}

/** Pays for reading a number out of a text: every digit counts. */
export function numeral(frame: Frame, text: string): string {
  charge(frame, text.length / 512);
  return text;
}

/** Text as JavaScript makes it from a simple value; objects and arrays give their JSON. */
export function toText(frame: Frame, position: number, value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" && typeof value !== "function" && typeof value !== "symbol" && typeof value !== "bigint")
    return String(value);
  return value === null ? "null" : toJson(frame, position, value, "");
}

/** JSON of plain data. Never calls a `toJSON`: the text is made from a copy. */
export function toJson(frame: Frame, position: number, value: unknown, indent: string): string {
  const { room } = frame;
  // what is indented is paid for with the copy; escapes come on top of that, and are bounded by it
  const copy = plainCopy(frame, position, value, indent.length);
  const text = JSON.stringify(copy, null, indent);
  grow(frame, Math.max(0, text.length - (room - frame.room)));
  return text;
}

/** Joins two texts. Engines keep both halves, so building a text bit by bit costs about its length, not its square. */
export function concatenate(frame: Frame, left: string, right: string): string {
  const { outputLength } = frame.unit.limits;
  if (left.length + right.length > outputLength) exceeded(frame, "characters of output", outputLength);
  grow(frame, Math.min(left.length, right.length));
  return left + right;
}
