import { cutText } from "../errors/cut-text.ts";

/** Returns the JSON pointer (RFC 6901) for a list of keys and indices: `/orders/0/total`. */
export function pointerOf(trail: readonly (string | number)[]): string {
  return trail.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The most characters of one key in a pointer of an issue. */
const maxKeyLength = 100;

/** Does the same, and cuts each key to 100 characters: whoever sends a value chooses its keys, and answers and logs repeat them. */
export function shortPointerOf(trail: readonly (string | number)[]): string {
  return pointerOf(trail.map((part) => (typeof part === "string" ? cutText(part, maxKeyLength) : part)));
}
