import { readable, toNumber } from "../evaluation/coerce.ts";
import { charge, type Frame, failEvaluation } from "../evaluation/frame.ts";
import { kindOf } from "../evaluation/read-member.ts";

/** An arrow function at work. */
export type Callback = (frame: Frame, first: unknown, second: unknown, third: unknown) => unknown;

/** A call as it stands in the source. */
export interface CallSite {
  readonly name: string;
  readonly position: number;
  readonly callback: Callback | null;
}

/** A listed function or method. `self` is what a method was called on. */
export type Pure<Self = unknown> = (frame: Frame, site: CallSite, self: Self, args: readonly unknown[]) => unknown;

/** An argument that has to be text. Numbers and booleans will do; `undefined` would only hide a mistake. */
export function textAt(frame: Frame, site: CallSite, args: readonly unknown[], index: number, fallback?: string): string {
  const value = args[index];
  if (typeof value === "string") return readable(frame, value);
  if (value === undefined && fallback !== undefined) return fallback;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return failEvaluation(frame, site.position, `argument ${index + 1} of ${site.name} must be a text, not ${kindOf(value)}`);
}

/** An argument that has to be a whole number; fractions are cut off, as JavaScript does. */
export function wholeAt(frame: Frame, site: CallSite, args: readonly unknown[], index: number, fallback: number): number {
  const value = args[index];
  if (value === undefined) return fallback;
  return Math.trunc(toNumber(frame, site.position, value)) || 0;
}

/** Pays for searching `text` for `part`: in the worst case every letter of one meets every letter of the other. */
export function chargeSearch(frame: Frame, text: string, part: string): void {
  charge(frame, Math.ceil((text.length * Math.max(part.length, 32)) / 16_384));
}
