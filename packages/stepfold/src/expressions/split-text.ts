import type { ReadPath, TemplateBounds } from "../core/definition/template.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { Program } from "./compile/evaluate.ts";
import { type CompileExpressionOptions, programOf } from "./compile-expression.ts";
import { type Tokens, tokenize } from "./syntax/tokenize.ts";

/** A string that was split into texts and expressions. Without mistakes there is one program between each text and the next. */
export interface Pieces {
  readonly texts: readonly string[];
  readonly programs: readonly Program[];
  readonly reads: readonly ReadPath[];
  /** Messages about the mistakes in the expressions. */
  readonly mistakes: readonly string[];
  /** True if the rest of the string was not read, because the work of reading was refused. */
  readonly isCut: boolean;
}

/**
 * Finds and compiles the `{{ }}` in a string. The tokenizer finds the end of an
 * expression, so `}}` inside a string of the expression does not end it.
 */
export function splitText(text: string, options: CompileExpressionOptions, bounds: TemplateBounds): Pieces {
  const pieces = { texts: [] as string[], programs: [] as Program[], reads: [] as ReadPath[], mistakes: [] as string[], isCut: false };
  let index = 0;
  for (let open = text.indexOf("{{"); open !== -1; open = text.indexOf("{{", index)) {
    pieces.texts.push(text.slice(index, open));
    try {
      const tokens = tokenize(text, open + 2, true, options.limits.sourceLength);
      index = tokens.end;
      if (!bounds.read(partsOf(tokens))) return { ...pieces, isCut: true };
      const { program, reads } = programOf(tokens, options);
      pieces.programs.push(program);
      pieces.reads.push(...reads);
    } catch (error) {
      pieces.mistakes.push(asInvalid(error));
      if (pieces.mistakes.length > bounds.issues) break;
      // If the tokenizer failed, the end of the expression is not known: the search for further mistakes continues after
      // the next `}}`, which is the best guess. If only the parser failed, `index` is already behind the expression.
      const close = text.indexOf("}}", open);
      index = close === -1 ? text.length : Math.max(index, close + 2);
    }
  }
  pieces.texts.push(text.slice(index));
  return pieces;
}

/** The work of reading an expression: its tokens, and every 16 characters of them, because a token can be a long pattern. */
function partsOf({ tokens, source }: Tokens): number {
  return tokens.length + source.length / 16;
}

function asInvalid(error: unknown): string {
  if (StepfoldError.is(error, "EXPRESSION_INVALID")) return error.message;
  throw error;
}
