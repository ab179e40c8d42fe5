import type { ErrorInfo } from "../errors/error-info.ts";
import type { Json } from "../values/json.ts";
import { invalid } from "./read-number.ts";
import { object, optionalText } from "./read-text.ts";

/** A failure, checked. */
export function readError(value: Json, pointer: string): ErrorInfo {
  const error = object(value, pointer, "must be an object with a message");
  if (typeof error.message !== "string") return invalid(pointer, "must be an object with a message");
  optionalText(error, ["name", "code", "nodeId"], pointer);
  return error as unknown as ErrorInfo;
}
