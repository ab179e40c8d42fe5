import type { EpochMs } from "../../values/json.ts";

/** A time for each key. The earliest one is cached, so that reading it again is cheap. */
export class Timetable {
  readonly #times = new Map<string, EpochMs>();
  #first: string | null = null;
  #stale = false;

  /** Sets the time of a key; null removes the key. */
  set(key: string, at: EpochMs | null): void {
    const before = this.#times.get(key);
    if (before === (at ?? undefined)) return;
    if (at === null) this.#times.delete(key);
    else this.#times.set(key, at);
    if (key === this.#first) this.#stale = true;
    else if (at !== null && !this.#stale && (this.#first === null || at < this.#times.get(this.#first)!)) this.#first = key;
  }

  /** Returns the key with the earliest time, or null if there is none. If several keys have that time, one of them. */
  first(): { readonly key: string; readonly at: EpochMs } | null {
    if (this.#stale) this.#find();
    return this.#first === null ? null : { key: this.#first, at: this.#times.get(this.#first)! };
  }

  /** Returns the keys whose time is `at`. */
  keysAt(at: EpochMs): string[] {
    return [...this.#times].filter(([, time]) => time === at).map(([key]) => key);
  }

  #find(): void {
    this.#stale = false;
    this.#first = null;
    let earliest = Number.POSITIVE_INFINITY;
    for (const [key, at] of this.#times) {
      if (at >= earliest) continue;
      earliest = at;
      this.#first = key;
    }
  }
}
