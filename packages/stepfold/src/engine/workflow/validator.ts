import { Validator as JsonSchemaValidator } from "@cfworker/json-schema";
import type { SchemaIssue } from "../../core/errors/catalogue.ts";
import { isJsonObject, type JsonSchema } from "../../core/values/json.ts";
import { pointerOf } from "../../core/values/pointer.ts";
import type { StandardResult, StandardSchema } from "../node/standard-schema.ts";

/** The value as the schema gives it, or what is wrong with it. */
export type Validated = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** Checks a value. Asynchronous only where the schema is. */
export type Validator = (value: unknown) => Validated | Promise<Validated>;

const compiled = new WeakMap<object, Validator>();

/** The check that a schema asks for. JSON Schemas are read as draft 2020-12. */
export function validatorOf(schema: StandardSchema | JsonSchema): Validator {
  if (typeof schema === "boolean")
    return (value) => (schema ? { value } : { issues: [{ pointer: "", message: "nothing is allowed here" }] });
  const known = compiled.get(schema);
  if (known) return known;
  const validator = isStandard(schema) ? ofStandard(schema) : ofJsonSchema(schema);
  compiled.set(schema, validator);
  return validator;
}

/** As `validatorOf`, for JSON that is frozen: libraries may write into what they are given to transform. */
export function thawingValidatorOf(schema: StandardSchema | JsonSchema): Validator {
  const validator = validatorOf(schema);
  return isStandard(schema) ? (value) => validator(thawed(value)) : validator;
}

function thawed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(thawed);
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, thawed(member)])) : value;
}

/** True for a Standard Schema, which may ask for values that JSON does not have. */
export function isStandard(schema: StandardSchema | JsonSchema): schema is StandardSchema {
  // arktype's schemas are functions
  if (typeof schema !== "object" && typeof schema !== "function") return false;
  // a JSON Schema from outside may have any key, but never a function
  return typeof (schema as Partial<StandardSchema>)["~standard"]?.validate === "function";
}

function ofStandard(schema: StandardSchema): Validator {
  const { validate } = schema["~standard"];
  return (value) => {
    const result = validate(value);
    return result instanceof Promise ? result.then(ofResult) : ofResult(result);
  };
}

function ofResult(result: StandardResult<unknown>): Validated {
  if (!result.issues) return { value: result.value };
  return {
    issues: result.issues.map(({ message, path = [] }) => ({
      pointer: pointerOf(path.map((part) => (typeof part === "object" ? String(part.key) : String(part)))),
      message,
    })),
  };
}

function ofJsonSchema(schema: object): Validator {
  let validator: JsonSchemaValidator | null = null;
  return (value) => {
    try {
      // the validator writes into the schema, and ours are frozen
      validator ??= new JsonSchemaValidator(structuredClone(schema), "2020-12", false);
      const { valid, errors } = validator.validate(value === undefined ? null : value);
      if (valid) return { value };
      // the outer errors only say that something inside is wrong
      const leaves = errors.filter(({ keyword }) => keyword !== "properties" && keyword !== "items" && keyword !== "$ref");
      return { issues: leaves.map(({ instanceLocation, error }) => ({ pointer: instanceLocation.slice(1), message: error })) };
    } catch (error) {
      // of the schema: a pattern that is none, a $ref to nowhere or to itself; of the value: what JSON does not have
      return { issues: [{ pointer: "", message: `cannot be checked: ${(error as Error).message}` }] };
    }
  };
}
