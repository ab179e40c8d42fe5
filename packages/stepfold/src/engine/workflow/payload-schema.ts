import { canonicalJson } from "../../core/values/canonical-json.ts";
import type { Json, JsonSchema } from "../../core/values/json.ts";
import { isJsonObject } from "../../core/values/json.ts";
import { sizeOfJson } from "../../core/values/json-size.ts";
import type { Limits } from "../../core/values/limits.ts";
import { sha256 } from "../../core/values/sha256.ts";
import { plainJson } from "../../core/values/to-json.ts";
import type { StandardSchema } from "../node/standard-schema.ts";
import { isStandard, mistakesOf } from "./validator.ts";

/** A JSON Schema, and the id under which an execution holds it. */
export interface PayloadSchema {
  readonly id: string;
  readonly schema: JsonSchema;
  readonly sizeBytes: number;
}

/** A larger one would be written with the first wait of every execution. */
const maxSchemaBytes = 64 * 1024;
const idLength = 24;
const known = new WeakMap<object, PayloadSchema | null>();

/**
 * What a type of node says about the payload that resumes it, as a JSON Schema: for processes that do not have its code. Null if it cannot be
 * said: by a Standard Schema that gives none, by one that JSON Schema has no words for, and by one that is too large.
 */
export function payloadSchemaOf(resume: StandardSchema | JsonSchema, limits: Limits): PayloadSchema | null {
  if (typeof resume === "boolean") return payloadSchema(resume);
  let found = known.get(resume);
  if (found === undefined) {
    found = saidBy(resume, limits);
    known.set(resume, found);
  }
  return found;
}

function saidBy(resume: Exclude<StandardSchema | JsonSchema, boolean>, limits: Limits): PayloadSchema | null {
  try {
    const said = isStandard(resume) ? resume["~standard"].jsonSchema?.input({ target: "draft-2020-12" }) : resume;
    const { value } = plainJson(said, "The schema of the payload", limits);
    if (!isJsonObject(value) && typeof value !== "boolean") return null;
    // what is a mistake here may be none for the library that the code uses
    return sizeOfJson(value) <= maxSchemaBytes && mistakesOf(value).length === 0 ? payloadSchema(value) : null;
  } catch {
    // a date, a transformation without an input, a circle
    return null;
  }
}

function payloadSchema(schema: JsonSchema): PayloadSchema {
  const text = schema as Json;
  return Object.freeze({ id: sha256(canonicalJson(text)).slice(0, idLength), schema, sizeBytes: sizeOfJson(text) });
}
