import { cutText } from "../errors/cut-text.ts";

/** The most characters of one key that a pointer shows: whoever sends a value chooses its keys, and errors and logs repeat them. */
const maxKeyLength = 100;

/** Returns the JSON pointer (RFC 6901) for a list of keys and indices: `/orders/0/total`. A key of more than 100 characters is cut. */
export function pointerOf(trail: readonly (string | number)[]): string {
  return trail.map((part) => `/${cutText(String(part), maxKeyLength).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
