import { charge, exceeded, type Frame, failEvaluation, grow } from "./frame.ts";
import { plainCopy } from "./plain-copy.ts";
import { kindOf } from "./read-member.ts";

/** Converts a simple value to a number as JavaScript does. Any other value, such as an object or array, fails the evaluation. */
export function toNumber(frame: Frame, position: number, value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "string") return Number(payToParse(frame, value));
  if (typeof value === "boolean" || value === null || value === undefined) return Number(value);
  return failEvaluation(frame, position, `${kindOf(value)} is no number`);
}

/** Pays for reading a text: the JavaScript engine may first have to join the pieces that the text was built from. */
export function payToRead(frame: Frame, text: string): string {
  charge(frame, text.length >>> 12);
  return text;
}

/** Pays for reading a number from a text, because every character takes time. */
export function payToParse(frame: Frame, text: string): string {
  charge(frame, text.length / 512);
  return text;
}

/** Converts a simple value to text as JavaScript does, and objects and arrays to their JSON. Any other value fails the evaluation. */
export function toText(frame: Frame, position: number, value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" && typeof value !== "function" && typeof value !== "symbol" && typeof value !== "bigint")
    return String(value);
  return value === null ? "null" : toJson(frame, position, value, "");
}

/** Returns the JSON of plain data. It never calls a `toJSON` method, because it works on a copy. */
export function toJson(frame: Frame, position: number, value: unknown, indent: string): string {
  const { outputLeft } = frame;
  // `plainCopy` pays for the data and its indentation. Escapes make the JSON longer by a limited factor, so they are paid for afterwards.
  const copy = plainCopy(frame, position, value, indent.length);
  const text = JSON.stringify(copy, null, indent);
  grow(frame, Math.max(0, text.length - (outputLeft - frame.outputLeft)));
  return text;
}

/**
 * Joins two texts. JavaScript engines keep both halves without copying them, so only the shorter one
 * is paid for: a text that is built piece by piece costs about its length, not its square.
 */
export function concatenate(frame: Frame, left: string, right: string): string {
  const { outputLength } = frame.unit.limits;
  if (left.length + right.length > outputLength) exceeded(frame, "characters of output", outputLength);
  grow(frame, Math.min(left.length, right.length));
  return left + right;
}
