/** The most names that are counted at once. More callers than this within a minute are counted together. */
const maxNames = 10_000;
const minuteMs = 60_000;

/** Counts what happens in each minute, by a name: a principal, an address. */
export class MinuteCounter {
  readonly #max: number;
  readonly #nowMs: () => number;
  readonly #counts = new Map<string, number>();
  #minute = 0;

  /** @param max how often it may happen in a minute @param nowMs a monotonic clock */
  constructor(max: number, nowMs: () => number) {
    this.#max = max;
    this.#nowMs = nowMs;
  }

  /** Counts once. */
  count(name: string): void {
    const counted = this.#nameOf(name);
    this.#counts.set(counted, (this.#counts.get(counted) ?? 0) + 1);
  }

  /** The number of seconds until it may happen again; 0: now. */
  waitSeconds(name: string): number {
    const count = this.#counts.get(this.#nameOf(name)) ?? 0;
    return count < this.#max ? 0 : Math.ceil(((this.#minute + 1) * minuteMs - this.#nowMs()) / 1_000);
  }

  #nameOf(name: string): string {
    const minute = Math.floor(this.#nowMs() / minuteMs);
    if (minute !== this.#minute) {
      this.#counts.clear();
      this.#minute = minute;
    }
    return this.#counts.size < maxNames || this.#counts.has(name) ? name : "";
  }
}
