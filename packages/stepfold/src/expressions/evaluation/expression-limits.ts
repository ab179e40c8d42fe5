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

/** The limits that apply if you give no others. */
export const defaultExpressionLimits: ExpressionLimits = Object.freeze({
  sourceLength: 4 * 1024,
  depth: 32,
  nodes: 500,
  steps: 10_000,
  outputLength: 1024 * 1024,
});
