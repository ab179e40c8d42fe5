import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Snapshot } from "../../core/snapshot/snapshot.ts";
import type { Json } from "../../core/values/json.ts";
import type { Limits } from "../../core/values/limits.ts";
import { normalise } from "../../core/values/to-json.ts";

/**
 * Checks a value of a command, and returns it with its size, as the event holds it.
 *
 * @throws StepfoldError `VALUE_NOT_JSON`; `LIMIT_EXCEEDED`, also if the execution would become too large with the value
 */
export function keepValue<K extends string>(
  { workflowId, sizeBytes: held }: Snapshot,
  name: K,
  given: unknown,
  limits: Limits,
): { readonly [key in K]: Json } & { readonly sizeBytes: number } {
  const { value, sizeBytes } = normalise(given, `The ${name}`, limits);
  const actual = held + sizeBytes;
  if (actual > limits.executionBytes)
    throw new StepfoldError("LIMIT_EXCEEDED", {
      what: `Execution "${workflowId}"`,
      limit: "executionBytes",
      max: limits.executionBytes,
      actual,
    });
  return { [name]: value, sizeBytes } as { readonly [key in K]: Json } & { readonly sizeBytes: number };
}
