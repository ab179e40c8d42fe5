import { isDigit } from "./character.ts";
import { refuse, type Scanner } from "./scanner.ts";

const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["0", "\0"],
  ["\n", ""],
  ["\r", ""],
  ["\u2028", ""],
  ["\u2029", ""],
]);

/** Reads an escape as JavaScript does: a backslash before a line end removes the line end. The scanner stands at the backslash. */
export function scanEscape(scanner: Scanner): string {
  const start = scanner.index;
  const letter = scanner.text.slice(start + 1, start + 2);
  scanner.index = start + 2;
  if (letter === "x") return hexadecimal(scanner, start, 2);
  if (letter === "u") return scanner.text.charCodeAt(start + 2) === 123 ? braced(scanner, start) : hexadecimal(scanner, start, 4);
  const next = scanner.text.charCodeAt(start + 2);
  if (letter === "" || (isDigit(letter.charCodeAt(0)) && (letter !== "0" || isDigit(next)))) {
    refuse(scanner, start, "this escape is not known: write \\n, \\t, \\\\, \\', \\\", \\xFF or \\u0000");
  }
  // both characters of a Windows line end belong to one escape
  if (letter === "\r" && next === 10) scanner.index++;
  return simpleEscapes.get(letter) ?? letter;
}

function hexadecimal(scanner: Scanner, start: number, digits: number): string {
  const text = scanner.text.slice(scanner.index, scanner.index + digits);
  if (text.length !== digits || !/^[0-9a-fA-F]+$/.test(text)) refuse(scanner, start, `this escape needs ${digits} hexadecimal digits`);
  scanner.index += digits;
  return String.fromCharCode(Number.parseInt(text, 16));
}

function braced(scanner: Scanner, start: number): string {
  // A code point has at most six digits, so no more characters are searched.
  const text = /^\{([0-9a-fA-F]{1,6})\}/.exec(scanner.text.slice(scanner.index, scanner.index + 8))?.[1];
  const code = Number.parseInt(text ?? "FFFFFFF", 16);
  if (text === undefined || code > 0x10ffff) refuse(scanner, start, "this escape needs a code point: \\u{1F600}");
  scanner.index += text.length + 2;
  return String.fromCodePoint(code);
}
