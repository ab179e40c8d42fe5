import { sizeOfJson } from "../values/json-size.ts";
import type { Context, NodeResult } from "./snapshot.ts";

/** The size of a result, as it is counted for its execution. */
export function sizeOfResult({ output, error }: NodeResult): number {
  return error === undefined ? sizeOfJson(output) : error.length;
}

/** The size of all results of a scope. */
export function sizeOfContext(context: Context): number {
  let sum = 0;
  for (const results of Object.values(context)) for (const result of results) sum += sizeOfResult(result);
  return sum;
}

/** What a child counts for, beside its values: about the size of its head. */
export const childBytes = 256;
