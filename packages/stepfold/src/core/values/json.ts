/** A JSON value. Everything Stepfold keeps is made of these, frozen. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number;

/** A JSON Schema (draft 2020-12), as plain data. */
export type JsonSchema = boolean | JsonObject;

/** True for `{...}`, false for arrays, null and everything else. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
