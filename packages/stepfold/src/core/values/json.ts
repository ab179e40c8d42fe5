/** A JSON value. Everything that Stepfold keeps consists of frozen JSON values. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number;

/** A JSON Schema (draft 2020-12), as plain data, such as `z.toJSONSchema(...)` gives. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** True for `{...}`, false for arrays, null and everything else. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns about how many bytes a value has as JSON. `normalise` counts in the same way. */
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
