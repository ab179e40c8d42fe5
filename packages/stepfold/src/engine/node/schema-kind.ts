import type { Schema, SchemaFunction, StandardSchema } from "./standard-schema.ts";

/** True for a schema that is code of the host: it may ask for values that JSON does not have. */
export function isCode(schema: Schema): schema is StandardSchema | SchemaFunction {
  return typeof schema === "function" || isStandard(schema);
}

/** True for a Standard Schema. A JSON Schema from outside may have any key, but never a function. */
export function isStandard(schema: Schema): schema is StandardSchema {
  // schemas of arktype are functions
  if (typeof schema !== "object" && typeof schema !== "function") return false;
  return typeof (schema as Partial<StandardSchema> | null)?.["~standard"]?.validate === "function";
}

/** What is said of an object that is no schema that we can read. */
export const foreignSchema =
  "is neither a JSON Schema nor a Standard Schema, so it would check nothing: take a newer version of its library (zod from 3.24, valibot from 1.0), or give a function that checks, such as (data) => schema.parse(data)";

/**
 * Whether a value, given as a schema, is something else than a JSON Schema: it holds functions or class instances, like the schemas of
 * libraries. Some of these look like a JSON Schema, with `type: "object"`, but none of their rules is a keyword.
 */
export function isForeign(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return typeof schema !== "boolean";
  const found = new Set<object>([schema]);
  // the set grows while the loop runs; what it holds already is not read again, so a circle ends
  for (const part of found) {
    if (!Array.isArray(part) && isInstance(part)) return true;
    for (const member of Object.values(part)) {
      if (typeof member === "function") return true;
      if (typeof member === "object" && member !== null) found.add(member);
    }
  }
  return false;
}

function isInstance(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // the prototype of a plain object has no prototype itself, also in another realm
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}
