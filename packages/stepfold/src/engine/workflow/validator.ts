import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isJsonObject, type Json, type JsonSchema } from "../../core/values/json.ts";
import { pointerOf } from "../../core/values/pointer.ts";
import type { StandardResult, StandardSchema } from "../node/standard-schema.ts";
import type { CheckBudget } from "../schema/check-run.ts";
import { type CompiledSchema, compileSchema } from "../schema/json-schema.ts";

/** The value as the schema gives it, or what is wrong with it. */
export type Validated = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/**
 * Checks a value. Asynchronous only where the schema is.
 *
 * @throws StepfoldError `LIMIT_EXCEEDED` if a JSON Schema asks for more work than the budget has
 */
export type Validator = (value: unknown, budget: CheckBudget) => Validated | Promise<Validated>;

const validators = new WeakMap<object, Validator>();
const compiledSchemas = new WeakMap<object, CompiledSchema>();

/** A check that answers at once, as that of every JSON Schema does. */
export type SyncValidator = (value: unknown, budget: CheckBudget) => Validated;

/** The check that a schema asks for. JSON Schemas are read as draft 2020-12. */
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

/** What is wrong with a JSON Schema itself. Standard Schemas are the host's code, and are not judged. */
export function mistakesOf(schema: StandardSchema | JsonSchema): readonly SchemaIssue[] {
  return isStandard(schema) ? [] : compiledSchema(schema).mistakes;
}

/** As `validatorOf`, for JSON that is frozen: libraries may write into what they are given to transform. */
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
      // a schema that leads to itself
      return { issues: [{ pointer: "", message: `cannot be checked: ${(error as Error).message}` }] };
    }
  };
}

/** Made ready when it is first asked for. */
function compiledSchema(schema: JsonSchema): CompiledSchema {
  if (typeof schema === "boolean") return compileSchema(schema);
  let compiled = compiledSchemas.get(schema);
  if (!compiled) {
    compiled = compileSchema(schema);
    compiledSchemas.set(schema, compiled);
  }
  return compiled;
}
