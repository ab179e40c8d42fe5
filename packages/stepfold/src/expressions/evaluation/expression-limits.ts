import { defaultLimits } from "../../core/values/limits.ts";

/** Bounds that keep a hostile or mistaken expression from hurting the process. */
export interface ExpressionLimits {
  /** Length of the source of one expression, in UTF-16 code units. */
  readonly sourceLength: number;
  /** Nesting of brackets, branches and prefix operators. */
  readonly depth: number;
  /** Syntax nodes of one expression. */
  readonly nodes: number;
  /**
   * Work of one evaluation. One step is one item handled by an array helper (with up to 16 syntax nodes of its arrow
   * function), or about 500 characters searched. Other code costs steps
   * only for long texts and some functions: `nodes` limits it already.
   */
  readonly steps: number;
  /** Output that one evaluation may build, in characters of text. An array item counts as 8, an object member as 16. */
  readonly outputLength: number;
}

const { expressionSteps } = defaultLimits;
/** The least output that one evaluation may build, however few its steps are. */
const leastOutput = 1024 * 1024;
/** The output that one evaluation may build for each of its steps: an item of a list with one or two members. */
const outputOfStep = 16;

/** The limits that apply if you give no others. */
export const defaultExpressionLimits: ExpressionLimits = Object.freeze({
  sourceLength: 4 * 1024,
  depth: 32,
  nodes: 500,
  ...evaluationLimits(expressionSteps),
});

/** Returns the limits of expressions whose evaluations may take this many steps. */
export function expressionLimits(steps: number): ExpressionLimits {
  return steps === expressionSteps ? defaultExpressionLimits : { ...defaultExpressionLimits, ...evaluationLimits(steps) };
}

function evaluationLimits(steps: number): Pick<ExpressionLimits, "steps" | "outputLength"> {
  return { steps, outputLength: Math.max(leastOutput, outputOfStep * steps) };
}
