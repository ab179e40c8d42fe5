import { canonicalJson } from "../../core/values/canonical-json.ts";
import { sha256 } from "../../core/values/hash/sha256.ts";
import { isJsonObject, type Json, type JsonSchema, sizeOfJson } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { plainJson } from "../../core/values/to-json.ts";
import { isStandard } from "../node/schema-kind.ts";
import type { Schema } from "../node/standard-schema.ts";
import { mistakesOf } from "./validator.ts";

/** A JSON Schema, and the id under which an execution holds it. */
export interface PayloadSchema {
  readonly id: string;
  readonly schema: JsonSchema;
  readonly sizeBytes: number;
}

/** The largest schema that is kept, in bytes: every execution that waits holds its schema once. */
const maxSchemaBytes = 64 * 1024;
/** The length of an id in hexadecimal digits: 96 bits of the hash are more than enough to tell the few schemas of one execution apart. */
const idLength = 24;
/** Results by schema; null for a schema without a JSON Schema that can be kept. */
const known = new WeakMap<object, PayloadSchema | null>();

/**
 * Returns the JSON Schema of the payload that resumes a node, for processes that do not have the code of its type. Null if there is none: a
 * Standard Schema cannot provide one, or the JSON Schema is too large, is not JSON, or has mistakes. `describeNodeType` also uses it for
 * other schemas of a type.
 */
export function payloadSchemaOf(resume: Schema, limits: Limits): PayloadSchema | null {
  if (typeof resume === "boolean") return payloadSchema(resume);
  let found = known.get(resume);
  if (found === undefined) {
    found = jsonSchemaOf(resume, limits);
    known.set(resume, found);
  }
  return found;
}

function jsonSchemaOf(resume: Exclude<Schema, boolean>, limits: Limits): PayloadSchema | null {
  try {
    const schema = isStandard(resume) ? resume["~standard"].jsonSchema?.input({ target: "draft-2020-12" }) : resume;
    const { value } = plainJson(schema, "The schema of the payload", limits);
    if (!isJsonObject(value) && typeof value !== "boolean") return null;
    // the JSON Schema of another library may use something that this library cannot check
    return sizeOfJson(value) <= maxSchemaBytes && mistakesOf(value).length === 0 ? payloadSchema(value) : null;
  } catch {
    // libraries throw for something that JSON Schema cannot express, such as a date; `plainJson` throws for something that is not JSON,
    // such as a circular value
    return null;
  }
}

function payloadSchema(schema: JsonSchema): PayloadSchema {
  const json = schema as Json;
  return Object.freeze({ id: sha256(canonicalJson(json)).slice(0, idLength), schema, sizeBytes: sizeOfJson(json) });
}
