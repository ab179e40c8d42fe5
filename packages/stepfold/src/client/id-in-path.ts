/** Ids that stand in a URL as they are: no proxy and no browser changes them. */
const plainId = /^[A-Za-z0-9][A-Za-z0-9._~-]*$/;

/**
 * Returns an id as one segment of a URL's path: as it is, or `~` and the base64url of its UTF-8 if it has other characters than letters,
 * digits, `.`, `_`, `~` and `-`, or does not begin with a letter or a digit. Different ids have different segments. (A half of a surrogate
 * pair has no UTF-8: it counts as U+FFFD.)
 *
 * ```ts
 * idInPath("order-1001"); // order-1001
 * idInPath("a/b"); // ~YS9i
 * ```
 */
export function idInPath(id: string): string {
  if (plainId.test(id)) return id;
  let chars = "";
  for (const byte of new TextEncoder().encode(id)) chars += String.fromCharCode(byte);
  return `~${btoa(chars).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/**
 * Returns the id that a segment of a path stands for. Null if `idInPath` writes no id like this, so that each id has one path only.
 *
 * ```ts
 * idOfPath("~YS9i"); // a/b
 * idOfPath("a%2Fb"); // null
 * ```
 */
export function idOfPath(segment: string): string | null {
  if (plainId.test(segment)) return segment;
  try {
    const chars = atob(segment.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(chars, (char) => char.charCodeAt(0));
    const id = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return idInPath(id) === segment ? id : null;
  } catch {
    return null;
  }
}
