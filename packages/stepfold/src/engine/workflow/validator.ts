import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isJsonObject, type Json, type JsonSchema } from "../../core/values/json.ts";
import { pointerOf } from "../../core/values/pointer.ts";
import type { StandardResult, StandardSchema } from "../node/standard-schema.ts";
import type { CheckBudget } from "../schema/check-run.ts";
import { type CompiledSchema, compileSchema } from "../schema/json-schema.ts";

/** The value, which the schema may have transformed, or the mistakes in it. */
export type Validated = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/**
 * Checks a value. Returns a promise only if the schema is asynchronous.
 *
 * @throws StepfoldError `LIMIT_EXCEEDED` if the check against a JSON Schema takes more work than the budget has
 */
export type Validator = (value: unknown, budget: CheckBudget) => Validated | Promise<Validated>;

const validators = new WeakMap<object, Validator>();
const compiledSchemas = new WeakMap<object, CompiledSchema>();

/** A validator that never returns a promise, such as the validator of any JSON Schema. */
export type SyncValidator = (value: unknown, budget: CheckBudget) => Validated;

/** Returns the validator of a schema. JSON Schemas are read as draft 2020-12. */
export function validatorOf(schema: JsonSchema): SyncValidator;
export function validatorOf(schema: StandardSchema | JsonSchema): Validator;
export function validatorOf(schema: StandardSchema | JsonSchema): Validator {
  if (typeof schema === "boolean") return ofJsonSchema(schema);
  const known = validators.get(schema);
  if (known) return known;
  const validator = isStandard(schema) ? ofStandard(schema) : ofJsonSchema(schema);
  validators.set(schema, validator);
  return validator;
}

/** Returns the mistakes in a JSON Schema itself. Standard Schemas are code of the host, and are not checked. */
export function mistakesOf(schema: StandardSchema | JsonSchema): readonly SchemaIssue[] {
  return isStandard(schema) ? [] : compiledSchema(schema).mistakes;
}

/**
 * Does the same as `validatorOf`, for frozen JSON. A Standard Schema gets a copy that is not frozen, because its library may write into the
 * value.
 */
export function thawingValidatorOf(schema: StandardSchema | JsonSchema): Validator {
  const validator = validatorOf(schema);
  return isStandard(schema) ? (value, budget) => validator(thawed(value), budget) : validator;
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

function ofJsonSchema(schema: JsonSchema): SyncValidator {
  return (value, budget) => {
    try {
      const { mistakes, check } = compiledSchema(schema);
      const [mistake] = mistakes;
      if (mistake)
        return { issues: [{ pointer: "", message: `cannot be checked: the schema at ${mistake.pointer || "/"} ${mistake.message}` }] };
      const issues = check(value === undefined ? null : (value as Json), budget);
      return issues.length === 0 ? { value } : { issues };
    } catch (error) {
      if (StepfoldError.is(error, "LIMIT_EXCEEDED")) throw error;
      // the schema leads to itself without end
      return { issues: [{ pointer: "", message: `cannot be checked: ${(error as Error).message}` }] };
    }
  };
}

/** Returns the compiled form of a schema, which is compiled on first use. */
function compiledSchema(schema: JsonSchema): CompiledSchema {
  if (typeof schema === "boolean") return compileSchema(schema);
  let compiled = compiledSchemas.get(schema);
  if (!compiled) {
    compiled = compileSchema(schema);
    compiledSchemas.set(schema, compiled);
  }
  return compiled;
}
