import { StepfoldError } from "../errors/stepfold-error.ts";
import type { Json } from "../values/json.ts";

/** The highest count that is accepted. It leaves room to count on: from 2^53 on, adding 1 changes nothing. */
export const highestCount: number = 2 ** 52;
/** The last moment that a Date can hold. */
export const lastMs = 8.64e15;

/** A moment or a duration that may be missing, in milliseconds. @throws StepfoldError `SNAPSHOT_INVALID` */
export function time(value: Json | undefined, pointer: string): number | undefined {
  if (value === undefined || isIn(value, lastMs)) return value;
  return invalid(pointer, "must be a number of milliseconds, from 0 to 8.64e15");
}

/** Something counted. @throws StepfoldError `SNAPSHOT_INVALID` */
export function count(value: Json | undefined, pointer: string, from = 0, to: number = highestCount): number {
  if (isWhole(value) && value >= from && value <= to) return value;
  return invalid(pointer, `must be a whole number from ${from} to ${to === highestCount ? "2^52" : to}`);
}

/** A bound, which may be as high as one likes. @throws StepfoldError `SNAPSHOT_INVALID` */
export function bound(value: Json | undefined, pointer: string, from = 0): number {
  if (isWhole(value) && value >= from) return value;
  return invalid(pointer, `must be a whole number from ${from} on`);
}

/** @throws StepfoldError `SNAPSHOT_INVALID` */
export function invalid(pointer: string, reason: string): never {
  throw new StepfoldError("SNAPSHOT_INVALID", { pointer, reason });
}

/** True for a number from 0 to another one. */
export function isIn(value: Json | undefined, highest: number): value is number {
  return typeof value === "number" && value >= 0 && value <= highest;
}

function isWhole(value: Json | undefined): value is number {
  return Number.isSafeInteger(value);
}
