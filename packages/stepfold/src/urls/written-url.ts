import { invalidUrl, type UrlOption } from "./address.ts";
import { isUrlLike } from "./public-url.ts";

/** The URL of a store or a queue as a person wrote it. */
export interface WrittenUrl {
  /** Without blanks around it. */
  readonly url: string;
  /** In lower case, without its colon; null if there is none. A single letter before a colon is a drive of Windows. */
  readonly scheme: string | null;
}

/** Reads what a person wrote as the URL of a store or a queue. @throws StepfoldError `OPTION_INVALID` if it is no text */
export function writtenUrl(text: string, option: UrlOption): WrittenUrl {
  if (typeof text !== "string") throw invalidUrl("must be a text", option);
  const url = text.trim();
  return { url, scheme: /^([a-z][a-z0-9+-]+):/i.exec(url)?.[1]?.toLowerCase() ?? null };
}

/**
 * Makes the error for a URL with another scheme than those that there are. Without slashes behind it, what looks like a scheme may be a user or
 * a password, and is not named.
 */
export function unknownScheme({ url, scheme }: WrittenUrl, known: readonly string[], option: UrlOption): Error {
  const shown = scheme === null || !url.slice(scheme.length).startsWith("://") ? "" : `: "${scheme}:"`;
  return invalidUrl(`has ${scheme === null ? "no" : "an unknown"} scheme${shown}. The schemes are: ${known.join(", ")}`, option);
}

/**
 * Checks that a path is that of a file, and not a URL that was mistyped or kept the quotes of a shell: its password would be shown as a part of
 * the path.
 *
 * @throws StepfoldError `OPTION_INVALID` that does not quote it
 */
export function requirePath(path: string): void {
  if (path === "") throw invalidUrl("names no file: sqlite:app.db");
  if (!isUrlLike(path)) return;
  throw invalidUrl(
    'is neither a URL nor the path of a file: a path has no quotes, no "://", no "//" at its beginning, and not both ":" and "@". A URL begins with its scheme, such as postgres://',
  );
}
