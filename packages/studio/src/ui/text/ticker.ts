/**
 * The time of the server's clock, as all parts of a page see it: it ticks once a second while somebody looks. All countdowns of a page change
 * at the same moment, and a wrong clock of this computer does no harm.
 */
export class Ticker {
  readonly #listeners = new Set<() => void>();
  #offsetMs = 0;
  #now: number = Date.now();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Takes over the time of the store's clock, which came with an answer. */
  readonly synchronize = (storeNow: number): void => {
    this.#offsetMs = storeNow - Date.now();
    this.refresh();
  };

  /** The time of the server's clock at this instant. */
  readonly read = (): number => Date.now() + this.#offsetMs;

  /** The time as it is shown: that of the last tick, or of later news. */
  readonly getNow = (): number => this.#now;

  /** News have come, and are about to be drawn: they are not drawn with the time of the last tick. */
  readonly refresh = (): void => {
    this.#now = this.read();
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) clearInterval(this.#timer);
    };
  };

  #start(): void {
    this.refresh();
    this.#timer = setInterval(() => {
      this.refresh();
      for (const listener of this.#listeners) listener();
    }, 1_000);
  }
}
