import type { Scope } from "../../core/definition/template.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ExpressionLimits } from "./expression-limits.ts";

/** What an evaluation knows of its expression: for its errors, its budget and its random values. */
export interface Unit {
  readonly source: string;
  /** The JSON pointer of the expression in the definition; undefined if it is not known. */
  readonly pointer: string | undefined;
  readonly limits: ExpressionLimits;
  /** The position of the expression in its string, which tells apart expressions of the same string. */
  readonly offset: number;
  /**
   * True if the definition was accepted before, perhaps by an earlier version: then a time without an offset is UTC, and letters without a
   * meaning in a format of times stand for themselves.
   */
  readonly isStored: boolean;
}

/** The state of one evaluation: what it reads, and the budget that is left. */
export interface Frame {
  readonly unit: Unit;
  readonly scope: Scope;
  /** The values of arrow parameters, one slot each. Arrow functions cannot recurse, so one slot for each parameter is enough. */
  readonly locals: unknown[];
  stepsLeft: number;
  /** In characters; see `ExpressionLimits.outputLength`. */
  outputLeft: number;
  /** How many random values were drawn. */
  draws: number;
}

/** A compiled piece of an expression. */
export type Evaluate = (frame: Frame) => unknown;

/** Pays for work before it is done. A number of steps that is NaN exceeds the limit too. */
export function charge(frame: Frame, steps: number): void {
  frame.stepsLeft -= steps;
  if (!(frame.stepsLeft >= 0)) exceeded(frame, "steps", frame.unit.limits.steps);
}

/** Pays for output, before it is allocated wherever its length is known by then. */
export function grow(frame: Frame, length: number): void {
  frame.outputLeft -= length;
  if (!(frame.outputLeft >= 0)) exceeded(frame, "characters of output", frame.unit.limits.outputLength);
}

/** Throws the error of an evaluation that exceeds a limit. */
export function exceeded(frame: Frame, limit: string, max: number): never {
  throw new StepfoldError("EXPRESSION_BUDGET", { source: frame.unit.source, limit, max });
}

/** Throws the error of an evaluation that cannot go on. `position` counts from the start of the expression. */
export function failEvaluation(frame: Frame, position: number, reason: string, options?: { cause: unknown }): never {
  const { source, pointer } = frame.unit;
  const details = { source, position, reason: `${reason} (character ${position + 1})` };
  throw new StepfoldError("EXPRESSION_FAILED", pointer === undefined ? details : { ...details, pointer }, options);
}

/** Throws the error of an expression that cannot be compiled. */
export function refuseExpression(source: string, position: number, reason: string): never {
  throw new StepfoldError("EXPRESSION_INVALID", { source, position, reason });
}
