import type { Scope } from "../../core/definition/template.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { ExpressionLimits } from "./expression-limits.ts";

/** What every error about one expression has to name. */
export interface Unit {
  readonly source: string;
  readonly pointer: string | undefined;
  readonly limits: ExpressionLimits;
  /** Where the expression starts in its text: tells several in one text apart. */
  readonly offset: number;
}

/** One evaluation: what it reads, and what it may still spend. */
export interface Frame {
  readonly unit: Unit;
  readonly scope: Scope;
  /** Arrow parameters, one slot each: arrows cannot recurse, so a slot is never needed twice at once. */
  readonly locals: unknown[];
  /** Steps left. */
  steps: number;
  /** Output left. */
  room: number;
  /** How often chance was asked. */
  draws: number;
}

/** A compiled piece of an expression. */
export type Evaluate = (frame: Frame) => unknown;

/** Pays for work before it is done. */
export function charge(frame: Frame, steps: number): void {
  frame.steps -= steps;
  if (!(frame.steps >= 0)) exceeded(frame, "steps", frame.unit.limits.steps);
}

/** Pays for output before it is allocated. */
export function grow(frame: Frame, length: number): void {
  frame.room -= length;
  if (!(frame.room >= 0)) exceeded(frame, "characters of output", frame.unit.limits.outputLength);
}

/** Ends an evaluation that passed a limit. */
export function exceeded(frame: Frame, limit: string, max: number): never {
  throw new StepfoldError("EXPRESSION_BUDGET", { source: frame.unit.source, limit, max });
}

/** Ends an evaluation that cannot go on. */
export function failEvaluation(frame: Frame, position: number, reason: string, options?: { cause: unknown }): never {
  const { source, pointer } = frame.unit;
  const details = { source, position, reason: `${reason} (character ${position + 1})` };
  throw new StepfoldError("EXPRESSION_FAILED", pointer === undefined ? details : { ...details, pointer }, options);
}

/** Ends the compilation of an expression that can never run. */
export function refuseExpression(source: string, position: number, reason: string): never {
  throw new StepfoldError("EXPRESSION_INVALID", { source, position, reason });
}
