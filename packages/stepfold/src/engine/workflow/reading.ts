import type { SchemaIssue } from "../../core/errors/schema-issue.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Json } from "../../core/values/json.ts";
import { defaultLimits } from "../../core/values/limits.ts";
import type { Schema } from "../node/standard-schema.ts";
import { CheckBudget } from "../schema/check-run.ts";
import { thawingValidatorOf, type Validated } from "./validator.ts";

/**
 * Returns a function that reads kept JSON by a schema, so that what the schema transforms is transformed in every replay. A promise only if the schema is
 * asynchronous.
 *
 * @param refusal makes the error that is thrown if the value does not fit
 */
export function reading(schema: Schema, refusal: (issues: readonly SchemaIssue[]) => Error): (value: Json) => unknown {
  const validate = thawingValidatorOf(schema);
  const valid = (result: Validated): unknown => {
    if (result.issues) throw refusal(result.issues);
    return result.value;
  };
  return (value) => {
    const result = validate(value, new CheckBudget(defaultLimits));
    return result instanceof Promise ? result.then(valid) : valid(result);
  };
}

/** Returns a function that reads the input of a workflow by its schema. It throws `INPUT_INVALID`. */
export function readingInput(workflow: string, schema: Schema | undefined): (input: Json) => unknown {
  if (schema === undefined) return (input) => input;
  return reading(schema, (issues) => new StepfoldError("INPUT_INVALID", { workflow, issues }));
}
