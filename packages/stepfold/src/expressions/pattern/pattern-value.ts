import { tooLarge } from "./pattern-program.ts";
import { parsePattern, type ReadPattern } from "./pattern-syntax.ts";

/**
 * A regular expression in an expression, such as `/a+/gi`. It is a class, so it does not
 * count as data: an expression can only pass it to functions that take one.
 */
export class PatternValue {
  readonly isGlobal: boolean;
  readonly parsed: ReadPattern;

  constructor(parsed: ReadPattern, isGlobal: boolean) {
    this.parsed = parsed;
    this.isGlobal = isGlobal;
  }
}

const knownFlags = "gimsu";

/**
 * Parses a regular expression in an expression. Letters are whole characters, as with JavaScript's flag `u`, but needless escapes are
 * allowed, as without that flag.
 */
export function readPattern(source: string, flags: string): PatternValue | { readonly mistake: string } {
  const unknown = [...flags].find((flag, index) => !knownFlags.includes(flag) || flags.indexOf(flag) !== index);
  if (unknown !== undefined) return { mistake: `has the flag "${unknown}": known are ${[...knownFlags].join(", ")}, each once` };
  const parsed = parsePattern(strict(source), flags.replace(/[gu]/g, ""));
  const mistake = "mistake" in parsed ? parsed.mistake : tooLarge(parsed.part, true);
  return mistake === undefined ? new PatternValue(parsed as ReadPattern, flags.includes("g")) : { mistake };
}

/** Rewrites a pattern for the flag `u`: drops needless escapes, and escapes brackets that close or open nothing. */
function strict(source: string): string {
  const pieces = /\\[pPu]\{[^}]*\}|\\[\s\S]|\[(?:\\[\s\S]|[^\\\]])*\]|\{\d+(?:,\d*)?\}|[{}\]]/g;
  return source.replace(pieces, (piece) => {
    if (piece.length === 1) return `\\${piece}`;
    if (piece.startsWith("[")) return piece.replace(/\\([\s\S])/g, (whole, letter: string) => (isNeedless(letter, "-") ? letter : whole));
    return piece.length === 2 && isNeedless(piece[1]!, "") ? piece[1]! : piece;
  });
}

/** True if a letter means the same without the backslash before it. The letter in `needed` always needs its backslash. */
function isNeedless(letter: string, needed: string): boolean {
  return letter === "_" || !(letter === needed || /[\w^$\\.*+?()[\]{}|/]/.test(letter));
}
