import type { Evaluate } from "../evaluation/frame.ts";
import { requireExtraFunctions } from "../functions/extra-functions.ts";
import { PatternValue, readPattern } from "../pattern/pattern-value.ts";
import type { PatternLiteral } from "../syntax/syntax.ts";
import { type Compiler, reject } from "./compiler.ts";

/** Compiles `/a+/gi`. */
export function compilePatternLiteral(compiler: Compiler, { source, flags, start }: PatternLiteral): Evaluate {
  const value = readPattern(source, flags);
  if (!(value instanceof PatternValue)) reject(compiler, start, `this regular expression ${value.mistake}`);
  // A regular expression is not data, so the value of the whole expression has to be checked and copied.
  compiler.needsCopy = true;
  requireExtraFunctions();
  return () => value;
}
