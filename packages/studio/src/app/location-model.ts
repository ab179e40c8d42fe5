/** The part of `window` that a location needs. */
interface LocationWindow {
  readonly location: Pick<Location, "pathname" | "search" | "hash">;
  readonly history: Pick<History, "pushState" | "replaceState">;
  addEventListener(type: "popstate", listener: () => void): void;
}

/** How the address of the page changes. */
export interface NavigateOptions {
  /** The entry of the history is replaced: going back skips it. For changes of what is shown on one page. */
  readonly replace?: boolean | undefined;
}

/** The address of the page: what is shown is in it. */
export class LocationModel {
  readonly #window: LocationWindow;
  readonly #listeners = new Set<() => void>();

  constructor(window: LocationWindow) {
    this.#window = window;
    window.addEventListener("popstate", () => this.#notify());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getPath = (): string => this.#window.location.pathname;

  /** The query with its `?`, or empty text. */
  readonly getSearch = (): string => this.#window.location.search;

  /** Goes to a path, with or without a query, or to another query (`?tab=events`) of this path. */
  readonly navigate = (to: string, { replace = false }: NavigateOptions = {}): void => {
    const { location, history } = this.#window;
    const target = to.startsWith("?") || to === "" ? location.pathname + to : to;
    if (target === location.pathname + location.search) return;
    if (replace) history.replaceState(null, "", target);
    else history.pushState(null, "", target);
    this.#notify();
  };

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Returns the query with some keys changed, or removed (null): `withSearch(search, { tab: "events", v: null })` is `?tab=events`. */
export function withSearch(search: string, changes: Readonly<Record<string, string | null>>): string {
  const params = new URLSearchParams(search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) params.delete(key);
    else params.set(key, value);
  }
  return params.size > 0 ? `?${params}` : "";
}
