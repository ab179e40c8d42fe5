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
