import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { type CallSite, type ListedFunction, textAt } from "../functions/argument.ts";

/** Encodes a text in UTF-8. Half a surrogate pair becomes the replacement character U+FFFD. */
export function utf8(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 3);
  let length = 0;
  for (const character of text) {
    const point = character.codePointAt(0)!;
    const valid = point >= 0xd800 && point <= 0xdfff ? 0xfffd : point;
    if (valid < 0x80) bytes[length++] = valid;
    else {
      // the number of bytes after the first one
      const more = valid < 0x800 ? 1 : valid < 0x10000 ? 2 : 3;
      bytes[length++] = ([0, 0xc0, 0xe0, 0xf0][more]! | (valid >> (6 * more))) & 255;
      for (let rest = more - 1; rest >= 0; rest--) bytes[length++] = 0x80 | ((valid >> (6 * rest)) & 63);
    }
  }
  return bytes.subarray(0, length);
}

/**
 * Decodes UTF-8; undefined if the bytes are not valid. Each byte that is not ASCII, and `%` itself (37), is written as an escape such as
 * `%e4`, because `decodeURIComponent` is the only decoder that every JavaScript engine has. It throws an error for invalid UTF-8.
 */
function utf8Text(bytes: Uint8Array): string | undefined {
  let escaped = "";
  for (const byte of bytes) escaped += byte < 0x80 && byte !== 37 ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`;
  try {
    return decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Encodes bytes as base64 in the standard alphabet, with padding. */
function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const bits = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const letters = Math.min(3, bytes.length - at) + 1;
    for (let letter = 0; letter < 4; letter++) text += letter < letters ? alphabet[(bits >> (18 - 6 * letter)) & 63]! : "=";
  }
  return text;
}

/** Decodes base64 in the standard or URL alphabet, with or without padding and white space; undefined if the text is not base64. */
function ofBase64(text: string): Uint8Array | undefined {
  const letters = text
    .replace(/\s+/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/={1,2}$/, "");
  if (letters.length % 4 === 1 || !/^[A-Za-z0-9+/]*$/.test(letters)) return undefined;
  const bytes = new Uint8Array(Math.floor((letters.length * 3) / 4));
  let [bits, count, length] = [0, 0, 0];
  for (const letter of letters) {
    bits = ((bits << 6) | alphabet.indexOf(letter)) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[length++] = (bits >> count) & 255;
  }
  return bytes;
}

/**
 * Takes from the budget of the evaluation, before the work is done: one step for each 64 letters of a text, and the output of a result that
 * is at most `factor` times as long as the text.
 */
function payLetters(frame: Frame, text: string, factor: number): void {
  charge(frame, text.length / 64);
  grow(frame, text.length * factor);
}

function encode(frame: Frame, text: string): string {
  // a UTF-16 unit of the text is at most 3 bytes of UTF-8, which are 4 letters of base64
  payLetters(frame, text, 4);
  return base64Of(utf8(text));
}

function decode(frame: Frame, { name, position }: CallSite, text: string): string {
  payLetters(frame, text, 1);
  const bytes = ofBase64(text);
  if (bytes === undefined) failEvaluation(frame, position, `${name}: this text is not base64`);
  return utf8Text(bytes) ?? failEvaluation(frame, position, `${name}: the bytes of this base64 are not UTF-8 text`);
}

/** Functions that encode text as base64 and decode it. The bytes are always UTF-8. */
export const base64Functions: readonly (readonly [string, ListedFunction])[] = [
  ["base64.encode", (frame, site, _, args) => encode(frame, textAt(frame, site, args, 0))],
  [
    "base64.encodeUrl",
    (frame, site, _, args) =>
      encode(frame, textAt(frame, site, args, 0))
        .replaceAll("+", "-")
        .replaceAll("/", "_")
        .replace(/=+$/, ""),
  ],
  ["base64.decode", (frame, site, _, args) => decode(frame, site, textAt(frame, site, args, 0))],
  ["base64Encode", (frame, site, self) => encode(frame, textAt(frame, site, [self], 0))],
  ["base64Decode", (frame, site, self) => decode(frame, site, textAt(frame, site, [self], 0))],
];
