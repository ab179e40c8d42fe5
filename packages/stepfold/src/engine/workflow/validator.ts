import { boundedIssues } from "../../core/errors/bounded-issues.ts";
import { errorInfo } from "../../core/errors/error-info.ts";
import { safeMember } from "../../core/errors/safe-member.ts";
import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isJsonObject, type Json, type JsonSchema } from "../../core/values/json.ts";
import { shortPointerOf } from "../../core/values/pointer.ts";
import { foreignSchema, isCode, isForeign, isStandard } from "../node/schema-kind.ts";
import type { Schema, SchemaFunction, StandardResult, StandardSchema } from "../node/standard-schema.ts";
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
export function validatorOf(schema: Schema): Validator;
export function validatorOf(schema: Schema): Validator {
  if (!isObject(schema)) return ofJsonSchema(schema);
  const known = validators.get(schema);
  if (known) return known;
  const validator = isCode(schema) ? ofCode(schema) : ofJsonSchema(schema);
  validators.set(schema, validator);
  return validator;
}

/** Returns the mistakes in a JSON Schema itself. Other schemas are code of the host, and are not checked. */
export function mistakesOf(schema: Schema): readonly SchemaIssue[] {
  return isCode(schema) ? [] : compiledSchema(schema).mistakes;
}

/** Does the same as `validatorOf`, for frozen JSON. Code gets a copy that is not frozen, because a library may write into the value. */
export function thawingValidatorOf(schema: Schema): Validator {
  const validator = validatorOf(schema);
  return isCode(schema) ? (value, budget) => validator(thawed(value), budget) : validator;
}

function thawed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(thawed);
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, thawed(member)])) : value;
}

function ofCode(schema: StandardSchema | SchemaFunction): Validator {
  if (!isStandard(schema)) return ofFunction(schema);
  const { validate } = schema["~standard"];
  return (value) => {
    const result = validate(value);
    return result instanceof Promise ? result.then(ofResult) : ofResult(result);
  };
}

function ofFunction(check: SchemaFunction): Validator {
  return (value) => {
    try {
      const checked = check(value);
      return checked instanceof Promise ? checked.then((value) => ({ value }), ofThrown) : { value: checked };
    } catch (thrown) {
      return ofThrown(thrown);
    }
  };
}

/** Returns the mistakes that an error tells: zod, valibot and others list them as `issues`, in the form of Standard Schema. */
function ofThrown(thrown: unknown): Validated {
  const told: unknown = safeMember(thrown, "issues");
  try {
    if (Array.isArray(told) && told.length > 0) return ofResult({ issues: told as NonNullable<StandardResult<never>["issues"]> });
  } catch {
    // what is called `issues` is something else
  }
  return { issues: [{ pointer: "", message: errorInfo(thrown).message }] };
}

function ofResult(result: StandardResult<unknown>): Validated {
  if (!result.issues) return { value: result.value };
  return { issues: boundedIssues(issuesOf(result.issues)) };
}

function* issuesOf(issues: NonNullable<StandardResult<never>["issues"]>): Generator<SchemaIssue> {
  for (const { message, path = [] } of issues)
    yield { pointer: shortPointerOf(path.map((part) => (typeof part === "object" ? String(part.key) : String(part)))), message };
}

function ofJsonSchema(schema: JsonSchema): SyncValidator {
  return (value, budget) => {
    try {
      const { mistakes, check } = compiledSchema(schema);
      const [mistake] = mistakes;
      if (mistake)
        return { issues: [{ pointer: "", message: `cannot be checked: the schema at ${mistake.pointer || "/"} ${mistake.message}` }] };
      const issues = check(value === undefined ? null : (value as Json), budget);
      return issues.length === 0 ? { value } : { issues: boundedIssues(issues) };
    } catch (error) {
      if (StepfoldError.is(error, "LIMIT_EXCEEDED")) throw error;
      // the schema leads to itself without end
      return { issues: [{ pointer: "", message: `cannot be checked: ${(error as Error).message}` }] };
    }
  };
}

/** Returns the compiled form of a schema, which is compiled on first use. */
function compiledSchema(schema: JsonSchema): CompiledSchema {
  if (!isObject(schema)) return compiledAnew(schema);
  let compiled = compiledSchemas.get(schema);
  if (!compiled) {
    compiled = compiledAnew(schema);
    compiledSchemas.set(schema, compiled);
  }
  return compiled;
}

function compiledAnew(schema: JsonSchema): CompiledSchema {
  return isForeign(schema) ? { mistakes: [{ pointer: "", message: foreignSchema }], check: () => [] } : compileSchema(schema);
}

/** False for `true` and `false`, and for what untyped code gives as a schema. */
function isObject<T extends Schema>(schema: T): schema is Exclude<T, boolean> {
  return (typeof schema === "object" && schema !== null) || typeof schema === "function";
}
