import type { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { compileExpression } from "../../src/expressions/compile-expression.ts";

/** The values that the tested expressions can read. */
export const scope = {
  input: { name: "Ada", price: 21, tags: ["a", "b"], deep: { list: [{ id: 1 }, { id: 2 }] }, none: null, yes: true },
  metadata: { tier: "gold" },
  attempt: 2,
  error: { name: "Error", message: "busy", code: "BUSY" },
  $now: 0,
};

/** Returns the value of an expression over `scope`. */
export function run(source: string): unknown {
  return compileExpression(source).evaluate(scope);
}

/** Returns the error of an expression, from its compilation or its evaluation. */
export function errorOf(source: string): StepfoldError {
  try {
    run(source);
  } catch (error) {
    return error as StepfoldError;
  }
  throw new Error(`no error: ${source}`);
}
