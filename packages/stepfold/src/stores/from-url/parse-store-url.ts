import { requirePath, type WrittenUrl, writtenUrl } from "../../urls/written-url.ts";

/** The URL of a store, or the path of its file. */
export interface StoreUrl extends WrittenUrl {
  /** The path of an SQLite file; null if the URL names something else. */
  readonly path: string | null;
}

/**
 * Reads the URL of a store, or the path of an SQLite file: `postgres://user@host/database`, `sqlite:app.db`, `app.db`. Blanks around it do not
 * count. Whether the scheme is known is not checked. A path that is probably a mistyped URL, such as one that kept the quotes of a shell, is
 * refused: a message with this path would show its password.
 *
 * ```ts
 * import { parseStoreUrl } from "stepfold/stores/from-url";
 *
 * parseStoreUrl(" sqlite:app.db "); // { url: "sqlite:app.db", scheme: "sqlite", path: "app.db" }
 * parseStoreUrl("postgres://ada@db/app").path; // null
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID` for a path that is none, without quoting it, and for a value that is no text
 */
export function parseStoreUrl(text: string): StoreUrl {
  const { url, scheme } = writtenUrl(text, "store");
  const local = /^libsql:file:(?:\/\/)?/i.exec(url)?.[0];
  if (local !== undefined) requirePath(url.slice(local.length));
  if (scheme !== null && scheme !== "sqlite") return { url, scheme, path: null };
  const path = url.replace(/^sqlite:(\/\/)?/i, "");
  requirePath(path);
  return { url, scheme, path };
}
