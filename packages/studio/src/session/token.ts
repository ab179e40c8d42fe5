import type { TextStorage } from "./safe-storage.ts";

const storageKey = "stepfold.token";

/**
 * Takes a token out of the fragment of the page's address (`#t=...`) into the storage of this tab, and removes it from the address and from the
 * history. Must run before anything else of the page. Returns the token, or null if there is none.
 */
export function takeToken(
  location: Pick<Location, "hash" | "pathname" | "search">,
  history: Pick<History, "replaceState">,
  storage: TextStorage,
): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("t");
  if (token === null) return null;
  history.replaceState(null, "", location.pathname + location.search);
  if (token === "") return null;
  writeToken(storage, token);
  return token;
}

/** Returns the token of this tab, or null. */
export function readToken(storage: TextStorage): string | null {
  return storage.getItem(storageKey);
}

/** Keeps the token for this tab, or forgets it. */
export function writeToken(storage: TextStorage, token: string | null): void {
  if (token === null) storage.removeItem(storageKey);
  else storage.setItem(storageKey, token);
}
