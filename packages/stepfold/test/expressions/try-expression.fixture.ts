import type { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { compileExpression } from "../../src/expressions/compile-expression.ts";

/** What the tests of expressions compute with. */
export const scope = {
  input: { name: "Ada", price: 21, tags: ["a", "b"], deep: { list: [{ id: 1 }, { id: 2 }] }, none: null, yes: true },
  metadata: { tier: "gold" },
  attempt: 2,
  error: { name: "Error", message: "busy", code: "BUSY" },
  $now: 0,
};

/** What an expression gives among the values of the tests. */
export function run(source: string): unknown {
  return compileExpression(source).evaluate(scope);
}

/** The error an expression ends with, at compilation or evaluation. */
export function errorOf(source: string): StepfoldError {
  try {
    run(source);
  } catch (error) {
    return error as StepfoldError;
  }
  throw new Error(`no error: ${source}`);
}
