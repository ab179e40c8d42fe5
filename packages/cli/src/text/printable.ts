import { stripVTControlCharacters } from "node:util";

/** A text from outside, safe on a terminal: on one line, without control characters, cut to size. */
export function printable(text: string, most = 200): string {
  const plain = stripVTControlCharacters(text.length > most * 20 ? text.slice(0, most * 20) : text)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, " ")
    .trim();
  const letters = [...plain];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : plain;
}

/** A JSON value on one line, cut to size. */
export function printableJson(value: unknown, most = 200): string {
  return printable(JSON.stringify(value) ?? "", most);
}
