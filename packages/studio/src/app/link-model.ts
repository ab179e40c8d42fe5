/** The connection by which the page gets its news. */
export interface LinkState {
  readonly isLive: boolean;
  /** When the last news came, or the connection was seen to live. Null: there was none yet. */
  readonly lastNewsAt: number | null;
  /** When the next try begins. Null: unknown, or it is under way. */
  readonly againAt: number | null;
  /** Tries at once. */
  readonly tryNow: () => void;
}

/** What the bar and the banner of the page say of its connection. Null: the page has none. */
export class LinkModel {
  readonly #listeners = new Set<() => void>();
  #state: LinkState | null = null;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getState = (): LinkState | null => this.#state;

  readonly set = (state: LinkState | null): void => {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  };
}
