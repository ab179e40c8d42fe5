import { isNamePart } from "./character.ts";
import { emit, refuse, type Scanner, type Token } from "./scanner.ts";

/** Names that are operators: a value follows them. */
const operatorNames: ReadonlySet<string> = new Set(["typeof", "in"]);

/** True if a `/` here starts a regular expression. It does so where a value must follow; elsewhere it is a division. */
export function startsPattern({ tokens }: Scanner): boolean {
  return !endsValue(tokens, tokens.length - 1);
}

function endsValue(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  if (token === undefined) return false;
  if (token.kind === "name") return !operatorNames.has(token.text);
  if (token.kind !== "punctuator") return true;
  // A `!` after a value belongs to that value (`a!`); any other `!` is a prefix (`!a`).
  if (token.text === "!") return endsValue(tokens, index - 1);
  return ")]}`".includes(token.text);
}

/** Reads a regular expression such as `/a+/gi`, flags included. */
export function scanPattern(scanner: Scanner): void {
  const { text, index: start } = scanner;
  let isInSet = false;
  for (scanner.index++; ; scanner.index++) {
    const code = text.charCodeAt(scanner.index);
    if (Number.isNaN(code) || code === 10 || code === 13) refuse(scanner, start, "this regular expression is never closed");
    if (code === 92) scanner.index++;
    else if (code === 91) isInSet = true;
    else if (code === 93) isInSet = false;
    else if (code === 47 && !isInSet) break;
  }
  scanner.index++;
  while (isNamePart(text.charCodeAt(scanner.index))) scanner.index++;
  emit(scanner, "pattern", text.slice(start, scanner.index), start);
}
