/** Bounds that keep a hostile or mistaken expression from hurting the process. */
export interface ExpressionLimits {
  /** Source of one expression, in UTF-16 code units. */
  readonly sourceLength: number;
  /** Nesting of brackets, branches and prefix operators. */
  readonly depth: number;
  /** Syntax nodes of one expression. */
  readonly nodes: number;
  /**
   * Work of one evaluation. One step is one item handled by an array helper (with up to 16 syntax nodes of its arrow
   * function), or about a thousand characters searched. What has no loop costs none: `nodes` bounds it already.
   */
  readonly steps: number;
  /** What one evaluation may build: characters of text, 8 for an array item, 16 for an object member. */
  readonly outputLength: number;
}

/** What applies where you say nothing else. */
export const defaultExpressionLimits: ExpressionLimits = Object.freeze({
  sourceLength: 4 * 1024,
  depth: 32,
  nodes: 500,
  steps: 10_000,
  outputLength: 1024 * 1024,
});
