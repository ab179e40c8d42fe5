import { sizeOfJson } from "../values/json-size.ts";
import type { Context, NodeResult } from "./snapshot.ts";

/** What a result counts in the size of its execution. */
export function sizeOfResult({ output, error }: NodeResult): number {
  return error === undefined ? sizeOfJson(output) : error.length;
}

/** What all results of a scope count. */
export function sizeOfContext(context: Context): number {
  let sum = 0;
  for (const results of Object.values(context)) for (const result of results) sum += sizeOfResult(result);
  return sum;
}
