import { isJsonObject, type Json, type JsonObject } from "../values/json.ts";
import { pointerOf } from "../values/pointer.ts";
import { invalid } from "./read-number.ts";

/** A member that is an object. @throws StepfoldError `SNAPSHOT_INVALID` */
export function object(value: Json | undefined, pointer: string, reason = "must be an object"): JsonObject {
  return isJsonObject(value) ? value : invalid(pointer, reason);
}

/** A member that is a list. @throws StepfoldError `SNAPSHOT_INVALID` */
export function list(value: Json | undefined, pointer: string, reason = "must be a list"): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : invalid(pointer, reason);
}

/** Text that is not empty. @throws StepfoldError `SNAPSHOT_INVALID` */
export function text(value: Json | undefined, pointer: string, reason = "must be text"): string {
  return typeof value === "string" && value !== "" ? value : invalid(pointer, reason);
}

/** Members that are text where they are there. @throws StepfoldError `SNAPSHOT_INVALID` */
export function optionalText(value: JsonObject, keys: readonly string[], pointer: string): void {
  for (const key of keys) if (value[key] !== undefined && typeof value[key] !== "string") invalid(`${pointer}/${key}`, "must be text");
}

/** A member that is true where it is there. @throws StepfoldError `SNAPSHOT_INVALID` */
export function flag(value: Json | undefined, pointer: string): boolean {
  return value === undefined || value === true ? value === true : invalid(pointer, "must be true, or absent");
}

/** A list of names. @throws StepfoldError `SNAPSHOT_INVALID` */
export function texts(value: Json | undefined, pointer: string, reason: string): readonly string[] {
  const names = list(value, pointer, reason);
  return names.every((name) => typeof name === "string") ? (names as readonly string[]) : invalid(pointer, reason);
}

/** The pointer to a member whose key is not ours. */
export function into(pointer: string, key: string): string {
  return pointer + pointerOf([key]);
}

/** Those of these members that are there, in this order. */
export function picked(value: JsonObject, keys: readonly string[]): JsonObject {
  const found: Record<string, Json> = {};
  for (const key of keys) if (value[key] !== undefined) found[key] = value[key];
  return found;
}
