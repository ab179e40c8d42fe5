import type { Json } from "./json.ts";
import { StepfoldError } from "./stepfold-error.ts";

/** A number that may be missing. @throws StepfoldError `SNAPSHOT_INVALID` */
export function counter(value: Json | undefined, pointer: string): number | undefined {
  if (value === undefined || (typeof value === "number" && value >= 0)) return value;
  return invalid(pointer, "must be a number from 0 on");
}

/** @throws StepfoldError `SNAPSHOT_INVALID` */
export function whole(value: Json | undefined, pointer: string): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0) invalid(pointer, "must be a whole number from 0 on");
}

/** @throws StepfoldError `SNAPSHOT_INVALID` */
export function invalid(pointer: string, reason: string): never {
  throw new StepfoldError("SNAPSHOT_INVALID", { pointer, reason });
}
