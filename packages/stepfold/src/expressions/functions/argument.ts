import { payToRead, toNumber } from "../evaluation/coerce.ts";
import { charge, type Frame, failEvaluation } from "../evaluation/frame.ts";
import { kindOf } from "../evaluation/read-member.ts";

/** A compiled arrow function, called with the values of its parameters. */
export type Callback = (frame: Frame, first: unknown, second: unknown, third: unknown) => unknown;

/** A call in the source. */
export interface CallSite {
  readonly name: string;
  readonly position: number;
  /** The arrow function among the arguments; null if there is none. */
  readonly callback: Callback | null;
}

/** A listed function or method. `self` is the value that a method is called on; a function gets undefined. */
export type ListedFunction<Self = unknown> = (frame: Frame, site: CallSite, self: Self, args: readonly unknown[]) => unknown;

/**
 * Reads an argument that must be a text. Numbers and booleans are accepted. `undefined` gives the fallback; without a fallback it is
 * refused, because it is probably a mistake.
 */
export function textAt(frame: Frame, site: CallSite, args: readonly unknown[], index: number, fallback?: string): string {
  const value = args[index];
  if (typeof value === "string") return payToRead(frame, value);
  if (value === undefined && fallback !== undefined) return fallback;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return failEvaluation(frame, site.position, `argument ${index + 1} of ${site.name} must be a text, not ${kindOf(value)}`);
}

/** Reads an argument that must be a whole number. Fractions are cut off, and NaN counts as 0, as in JavaScript. */
export function wholeAt(frame: Frame, site: CallSite, args: readonly unknown[], index: number, fallback: number): number {
  const value = args[index];
  if (value === undefined) return fallback;
  return Math.trunc(toNumber(frame, site.position, value)) || 0;
}

/** Pays for searching `text` for `part`: in the worst case each letter of `text` is compared with each letter of `part`. */
export function chargeSearch(frame: Frame, text: string, part: string): void {
  charge(frame, Math.ceil((text.length * Math.max(part.length, 32)) / 16_384));
}
