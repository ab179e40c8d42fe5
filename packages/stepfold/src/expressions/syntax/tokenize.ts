import { isBlank, isDigit, isNamePart } from "./character.ts";
import { skipBlanks } from "./scan-comment.ts";
import { scanNumber, scanString, scanText } from "./scan-literal.ts";
import { scanPattern, startsPattern } from "./scan-pattern.ts";
import { emit, refuse, type Scanner, type Token } from "./scanner.ts";

const knownPunctuators: ReadonlySet<string> = new Set(
  "... === !== ** => == != <= >= && || ?? ?. ( ) [ ] { } . , : ? + - * / % < > !".split(" "),
);

const refusedPunctuators: ReadonlyMap<string, string> = new Map([
  ["++", "expressions cannot change a value"],
  ["--", "expressions cannot change a value; between two minus signs write a blank"],
  ["=", "expressions cannot assign; compare with ==="],
  ["|", "pipes and bitwise operators are not available; for a default write a ?? b"],
  ["&", "bitwise operators are not available; for both write a && b"],
]);

/** The tokens of an expression. */
export interface Tokens {
  readonly tokens: readonly Token[];
  /** Position in the text just after the expression, or after the `}}` that closes it. */
  readonly end: number;
  /** Position in the text where the expression starts. */
  readonly start: number;
  /** The expression as it is written, without the blanks around it, and without comments and semicolons at its end. */
  readonly source: string;
}

/**
 * Splits the expression that starts at `from` into tokens, in one pass over the text.
 *
 * @param embedded true if a `}}` ends the expression; false if the expression ends with the text
 * @throws StepfoldError `EXPRESSION_INVALID`
 */
export function tokenize(text: string, from: number, embedded: boolean, sourceLength: number): Tokens {
  let start = from;
  while (isBlank(text.charCodeAt(start))) start++;
  const scanner: Scanner = { text, from: start, embedded, tokens: [], open: [], index: start };
  while (scan(scanner)) {
    if (scanner.index - start > sourceLength) refuse(scanner, start, `this expression is longer than ${sourceLength} characters`);
  }
  const last = scanner.tokens.at(-1)?.end ?? 0;
  scanner.tokens.push({ kind: "end", text: "", start: last, end: last });
  return { tokens: scanner.tokens, end: scanner.index + (embedded ? 2 : 0), start, source: text.slice(start, start + last) };
}

/** Reads one token; false at the end of the expression. */
function scan(scanner: Scanner): boolean {
  const { text } = scanner;
  skipBlanks(scanner);
  const start = scanner.index;
  const code = text.charCodeAt(start);
  if (Number.isNaN(code)) return scanner.embedded ? unclosed(scanner) : false;
  if (isDigit(code) || (code === 46 && isDigit(text.charCodeAt(start + 1)))) scanNumber(scanner);
  else if (isNamePart(code)) {
    while (isNamePart(text.charCodeAt(scanner.index))) scanner.index++;
    emit(scanner, "name", text.slice(start, scanner.index), start);
  } else if (code === 34 || code === 39) scanString(scanner);
  else if (code === 96) {
    scanner.index++;
    emit(scanner, "punctuator", "`", start);
    scanText(scanner);
  } else if (code === 125) return scanBrace(scanner);
  else if (code === 47 && startsPattern(scanner)) scanPattern(scanner);
  else if (code === 59) scanSemicolon(scanner);
  else scanPunctuator(scanner);
  return true;
}

function unclosed(scanner: Scanner): never {
  return refuse(scanner, scanner.from, 'this "{{" has no "}}" after its expression. For the two braces themselves write {{ "{{" }}');
}

function scanBrace(scanner: Scanner): boolean {
  const start = scanner.index;
  const opened = scanner.open.pop();
  if (opened === undefined) {
    if (scanner.embedded && scanner.text.charCodeAt(start + 1) === 125) return false;
    refuse(scanner, start, 'this "}" closes nothing');
  }
  scanner.index++;
  emit(scanner, "punctuator", "}", start);
  if (opened === "`") scanText(scanner);
  return true;
}

/** Skips a semicolon at the end of the expression, where it means nothing, as in JavaScript. Other semicolons are refused. */
function scanSemicolon(scanner: Scanner): void {
  const { text, index: start } = scanner;
  scanner.index++;
  skipBlanks(scanner);
  const isLast = scanner.index === text.length || (scanner.embedded && text.startsWith("}}", scanner.index));
  if (!isLast || scanner.open.length > 0 || scanner.tokens.length === 0)
    refuse(scanner, start, "write one expression, without a semicolon");
}

function scanPunctuator(scanner: Scanner): void {
  const { text, index: start } = scanner;
  for (let length = 3; length > 0; length--) {
    const punctuator = text.slice(start, start + length);
    const reason = refusedPunctuators.get(punctuator);
    if (reason !== undefined) refuse(scanner, start, reason);
    // `a?.5:1` is a conditional with the number .5, not an optional member.
    if (!knownPunctuators.has(punctuator) || (punctuator === "?." && isDigit(text.charCodeAt(start + 2)))) continue;
    if (punctuator === "{") scanner.open.push("{");
    scanner.index += punctuator.length;
    emit(scanner, "punctuator", punctuator, start);
    return;
  }
  refuse(scanner, start, `the character ${JSON.stringify(text.slice(start, start + 1))} means nothing in an expression`);
}
