/** A JSON pointer (RFC 6901): `/orders/0/total`. */
export function pointerOf(trail: readonly (string | number)[]): string {
  return trail.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
