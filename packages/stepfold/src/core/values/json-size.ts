import type { Context, NodeResult } from "../snapshot/snapshot.ts";
import type { Json } from "./json.ts";

/** About how many bytes a value has as JSON: the same that `normalise` counts when it takes it in. */
export function sizeOfJson(value: Json): number {
  switch (typeof value) {
    case "string":
      return value.length + 2;
    case "number":
      return Number.isSafeInteger(value) && value >= 0 && value < 1e6 ? 6 : 17;
    case "boolean":
      return 5;
    default:
      if (value === null) return 4;
      return Array.isArray(value) ? sizeOfItems(value) : sizeOfMembers(value as Readonly<Record<string, Json>>);
  }
}

function sizeOfItems(items: readonly Json[]): number {
  return items.reduce<number>((sum, item) => sum + sizeOfJson(item), 2);
}

function sizeOfMembers(members: Readonly<Record<string, Json>>): number {
  return Object.entries(members).reduce((sum, [key, member]) => sum + key.length + 4 + sizeOfJson(member), 2);
}

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
