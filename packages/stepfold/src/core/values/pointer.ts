import { cutText } from "../errors/cut-text.ts";

/** Returns the JSON pointer (RFC 6901) for a list of keys and indices: `/orders/0/total`. */
export function pointerOf(trail: readonly (string | number)[]): string {
  return trail.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The most characters of one key in a pointer of an issue. */
const maxKeyLength = 100;

/**
 * Returns the JSON pointer with each key cut to 100 characters, for issues about values from outside. Their keys may be very long, and
 * answers and logs repeat the pointer for each issue.
 */
export function shortPointerOf(trail: readonly (string | number)[]): string {
  return pointerOf(trail.map((part) => (typeof part === "string" ? cutText(part, maxKeyLength) : part)));
}
