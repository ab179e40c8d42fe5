import { stripVTControlCharacters } from "node:util";

/** Makes a text from outside safe for a terminal: on one line, without control characters, cut to `maxLength` characters. */
export function printable(text: string, maxLength = 200): string {
  // cut first, so that a huge text costs little
  const plain = stripVTControlCharacters(text.length > maxLength * 20 ? text.slice(0, maxLength * 20) : text)
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, " ")
    .trim();
  const letters = [...plain];
  return letters.length > maxLength ? `${letters.slice(0, maxLength - 1).join("")}…` : plain;
}

/** Returns a JSON value on one line, cut to `maxLength` characters. */
export function printableJson(value: unknown, maxLength = 200): string {
  return printable(JSON.stringify(value) ?? "", maxLength);
}
