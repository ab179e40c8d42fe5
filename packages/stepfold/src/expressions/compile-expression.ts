import type { NodeNames, ReadPath, Scope } from "../core/definition/template.ts";
import { compileSyntax } from "./compile/compile.ts";
import { evaluate, type Program } from "./compile/evaluate.ts";
import { defaultExpressionLimits, type ExpressionLimits } from "./evaluation/expression-limits.ts";
import { refuseExpression, type Unit } from "./evaluation/frame.ts";
import { readsOf } from "./read-set/reads.ts";
import { parse } from "./syntax/parse.ts";
import { type Tokens, tokenize } from "./syntax/tokenize.ts";

/** One expression, compiled. */
export interface CompiledExpression {
  /** Every path that the expression can possibly read. */
  readonly reads: readonly ReadPath[];
  /**
   * Evaluates the expression. The value is plain data or undefined. It is a copy, except for values from a scope made by
   * `executionScope`, which are returned as they are and must not be changed. They too are copied if the expression reads
   * `globals` or contains a regular expression.
   *
   * @throws StepfoldError `EXPRESSION_FAILED`, `EXPRESSION_BUDGET`
   */
  evaluate(scope: Scope): unknown;
}

/**
 * Compiles an expression such as `attempt < 3 && error.code !== "DECLINED"` once, so that it can be evaluated many times.
 *
 * The `{{ }}` around the expression may be left out. For data in which some strings are or contain expressions, use `compileTemplate`.
 *
 * ```ts
 * const retryIf = compileExpression("attempt < 3 && error.code !== 'DECLINED'");
 * retryIf.evaluate({ attempt: 1, error: { name: "Error", message: "busy", code: "BUSY" } }); // true
 * retryIf.reads; // [["attempt"], ["error", "code"]]
 * ```
 *
 * @param pointer the JSON pointer of the expression in the definition; errors `EXPRESSION_FAILED` name it
 * @throws StepfoldError `EXPRESSION_INVALID` with the position of the mistake
 */
export function compileExpression(
  source: string,
  pointer?: string,
  limits: ExpressionLimits = defaultExpressionLimits,
): CompiledExpression {
  if (typeof source !== "string") refuseExpression("", 0, "an expression must be a text");
  const text = source.trim();
  const embedded = text.startsWith("{{");
  const tokens = tokenize(text, embedded ? 2 : 0, embedded, limits.sourceLength);
  if (embedded && tokens.end !== text.length) refuseExpression(text, tokens.end, "this is one expression: nothing can follow its }}");
  const { program, reads } = programOf(tokens, { pointer, limits, names: undefined, isStored: false });
  return { reads, evaluate: (scope) => evaluate(program, scope) };
}

/** Where an expression stands, and how it is compiled. */
export interface CompileExpressionOptions extends Pick<Unit, "pointer" | "limits" | "isStored"> {
  /** The ids of nodes by their names, for expressions such as `$("Name")`. */
  readonly names: NodeNames | undefined;
}

/** Compiles the tokens of an expression, and finds the paths that the expression reads. */
export function programOf(
  { tokens, source, start }: Tokens,
  { pointer, limits, names, isStored }: CompileExpressionOptions,
): { readonly program: Program; readonly reads: readonly ReadPath[] } {
  // the only token is the one that marks the end
  if (tokens.length === 1) refuseExpression(source, 0, "there is no expression here");
  const expression = parse(tokens, source, limits, names);
  const unit: Unit = { source, pointer, limits, offset: start, isStored };
  return { program: { code: compileSyntax(expression, unit), unit }, reads: readsOf(expression) };
}
