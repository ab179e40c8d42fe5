import { isBlank } from "./character.ts";
import { refuse, type Scanner } from "./scanner.ts";

const slashCode = 47;
const starCode = 42;

/** Moves past blanks and comments. A comment after `//` ends with its line or, inside `{{ }}`, before the next `}}`. */
export function skipBlanks(scanner: Scanner): void {
  const { text } = scanner;
  for (;;) {
    while (isBlank(text.charCodeAt(scanner.index))) scanner.index++;
    if (text.charCodeAt(scanner.index) !== slashCode) return;
    const second = text.charCodeAt(scanner.index + 1);
    if (second === slashCode) scanner.index = endOfLine(scanner);
    else if (second === starCode) scanner.index = endOfBlock(scanner);
    else return;
  }
}

function endOfLine({ text, index, embedded }: Scanner): number {
  for (let at = index; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13 || code === 0x2028 || code === 0x2029) return at;
    if (embedded && code === 125 && text.charCodeAt(at + 1) === 125) return at;
  }
  return text.length;
}

function endOfBlock(scanner: Scanner): number {
  const end = scanner.text.indexOf("*/", scanner.index + 2);
  return end === -1 ? refuse(scanner, scanner.index, "this comment is never closed") : end + 2;
}
