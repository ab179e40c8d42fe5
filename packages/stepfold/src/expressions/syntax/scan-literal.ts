import { isDigit, isNamePart } from "./character.ts";
import { scanEscape } from "./scan-escape.ts";
import { emit, refuse, type Scanner } from "./scanner.ts";

const backslashCode = 92;
const dollarCode = 36;

/** Reads a number as in JavaScript, without `_` and `n`. */
export function scanNumber(scanner: Scanner): void {
  const { text, index: start } = scanner;
  const mark = text.slice(start, start + 2).toLowerCase();
  if (mark === "0x" || mark === "0b" || mark === "0o") {
    scanner.index += 2;
    while (isNamePart(text.charCodeAt(scanner.index))) scanner.index++;
  } else {
    digits(scanner);
    if (text.charCodeAt(scanner.index) === 46) {
      scanner.index++;
      digits(scanner);
    }
    exponent(scanner);
  }
  const written = text.slice(start, scanner.index);
  if (Number.isNaN(Number(written)) || /^0\d/.test(written) || isNamePart(text.charCodeAt(scanner.index))) {
    refuse(scanner, start, "this is not a number: write 12, 0.5, 1e3 or 0xFF");
  }
  emit(scanner, "number", written, start);
}

function digits(scanner: Scanner): void {
  while (isDigit(scanner.text.charCodeAt(scanner.index))) scanner.index++;
}

function exponent(scanner: Scanner): void {
  const letter = scanner.text.charCodeAt(scanner.index);
  if (letter !== 101 && letter !== 69) return;
  const sign = scanner.text.charCodeAt(scanner.index + 1);
  scanner.index += sign === 43 || sign === 45 ? 2 : 1;
  digits(scanner);
}

/** Reads a string in single or double quotes. */
export function scanString(scanner: Scanner): void {
  const { text, index: start } = scanner;
  const quote = text.charCodeAt(start);
  let value = "";
  let plain = start + 1;
  scanner.index = plain;
  for (;;) {
    const code = text.charCodeAt(scanner.index);
    if (Number.isNaN(code) || code === 10 || code === 13) refuse(scanner, start, "this string is never closed");
    if (code === quote || code === backslashCode) value += text.slice(plain, scanner.index);
    if (code === quote) break;
    if (code === backslashCode) {
      value += scanEscape(scanner);
      plain = scanner.index;
    } else scanner.index++;
  }
  scanner.index++;
  emit(scanner, "string", value, start);
}

/** Reads the text of a template string up to its next `${` or its end, and the punctuator there. */
export function scanText(scanner: Scanner): void {
  const { text, index: start } = scanner;
  let value = "";
  let plain = start;
  for (;;) {
    const code = text.charCodeAt(scanner.index);
    if (Number.isNaN(code)) refuse(scanner, start - 1, "this template string is never closed");
    const closes = code === 96;
    const inserts = code === dollarCode && text.charCodeAt(scanner.index + 1) === 123;
    if (closes || inserts || code === backslashCode) value += text.slice(plain, scanner.index);
    if (closes || inserts) {
      emit(scanner, "text", value, start);
      scanEnd(scanner, closes ? "`" : "${");
      return;
    }
    if (code === backslashCode) {
      value += scanEscape(scanner);
      plain = scanner.index;
    } else scanner.index++;
  }
}

function scanEnd(scanner: Scanner, text: string): void {
  const start = scanner.index;
  scanner.index += text.length;
  if (text === "${") scanner.open.push("`");
  emit(scanner, "punctuator", text, start);
}
