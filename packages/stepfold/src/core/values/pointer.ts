/** Returns the JSON pointer (RFC 6901) for a list of keys and indices: `/orders/0/total`. */
export function pointerOf(trail: readonly (string | number)[]): string {
  return trail.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
