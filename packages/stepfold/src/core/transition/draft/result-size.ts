import type { Variables } from "../../snapshot/parts/variables.ts";
import type { Context, NodeResult } from "../../snapshot/snapshot.ts";
import { sizeOfJson } from "../../values/json.ts";

/** Returns about how many bytes a result counts for the size of its execution: its output or, if it failed, only its error message. */
export function sizeOfResult({ output, error }: NodeResult): number {
  return error === undefined ? sizeOfJson(output) : error.length;
}

/** Returns the size of all results of a scope. */
function sizeOfContext(context: Context): number {
  let sum = 0;
  for (const results of Object.values(context)) for (const result of results) sum += sizeOfResult(result);
  return sum;
}

/** Returns the size of all values of variables. */
export function sizeOfVariables(variables: Variables): number {
  let sum = 0;
  for (const values of Object.values(variables)) for (const { value } of values) sum += sizeOfJson(value);
  return sum;
}

/** Returns the size of what a scope holds besides its head. */
export function sizeOfHeld({ context, variables = {} }: { readonly context: Context; readonly variables?: Variables }): number {
  return sizeOfContext(context) + sizeOfVariables(variables);
}

/** The bytes that a child counts for, besides its values: about the size of its head. */
export const childBytes = 256;
