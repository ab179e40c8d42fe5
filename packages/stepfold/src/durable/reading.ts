import type { SchemaIssue } from "../core/errors/schema-issue.ts";
import type { Json } from "../core/values/json.ts";
import { defaultLimits } from "../core/values/limits.ts";
import type { Schema } from "../engine/node/standard-schema.ts";
import { CheckBudget } from "../engine/schema/check-run.ts";
import { thawingValidatorOf, type Validated } from "../engine/workflow/validator.ts";

/**
 * Returns a function that reads kept JSON by a schema, so that what the schema transforms is transformed in every replay. A promise only if the schema is
 * asynchronous.
 *
 * @param refusal makes the error that is thrown if the value does not fit
 */
export function reading(schema: Schema, refusal: (issues: readonly SchemaIssue[]) => Error): (value: Json) => unknown {
  const validate = thawingValidatorOf(schema);
  const checked = (result: Validated): unknown => {
    if (result.issues) throw refusal(result.issues);
    return result.value;
  };
  return (value) => {
    const result = validate(value, new CheckBudget(defaultLimits));
    return result instanceof Promise ? result.then(checked) : checked(result);
  };
}
