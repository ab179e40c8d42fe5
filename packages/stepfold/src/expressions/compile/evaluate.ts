import type { Scope } from "../../core/definition/template.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { type Frame, failEvaluation, type Unit } from "../evaluation/frame.ts";
import { plainCopy } from "../evaluation/plain-copy.ts";
import type { Code } from "./compile.ts";
import { checkedScope } from "./scope.ts";

/** A compiled expression, and what its evaluations must know of it. */
export interface Program {
  readonly code: Code;
  readonly unit: Unit;
}

/** The budget that the expressions of one template share, or of several templates (see `together` of `Template.evaluate`). */
export interface Budget {
  stepsLeft: number;
  /** In characters. */
  outputLeft: number;
}

/**
 * Runs a program once. The value is plain data: no function, class instance or thenable ever comes out.
 *
 * @throws StepfoldError `EXPRESSION_FAILED`, `EXPRESSION_BUDGET`
 */
export function evaluate({ code, unit }: Program, scope: Scope, budget?: Budget): unknown {
  const stepsLeft = budget === undefined ? unit.limits.steps : Math.min(unit.limits.steps, budget.stepsLeft);
  const outputLeft = budget === undefined ? unit.limits.outputLength : budget.outputLeft;
  const frame: Frame = { unit, scope, locals: code.slots === 0 ? noValues : new Array(code.slots), stepsLeft, outputLeft, draws: 0 };
  try {
    const value = code.run(frame);
    const trusted = !code.needsCopy && (scope as { readonly [checkedScope]?: true })[checkedScope] === true;
    return trusted || typeof value === "string" ? value : plainCopy(frame, 0, value);
  } catch (cause) {
    if (StepfoldError.is(cause)) throw cause;
    // Only a value from outside can throw anything else, for example a getter or proxy in `globals`.
    return failEvaluation(frame, 0, "reading a value from outside threw an error", { cause });
  } finally {
    if (budget !== undefined) {
      budget.stepsLeft -= stepsLeft - frame.stepsLeft;
      budget.outputLeft = frame.outputLeft;
    }
  }
}

/** Shared by all programs without arrow parameters: nothing ever writes to it. */
const noValues: unknown[] = [];
