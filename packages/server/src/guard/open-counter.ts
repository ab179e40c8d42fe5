/** Counts what somebody holds open at the same time, by their name. */
export class OpenCounter {
  readonly #max: number;
  readonly #counts = new Map<string, number>();

  /** @param max how much each may hold open */
  constructor(max: number) {
    this.#max = max;
  }

  /** Counts one more, and returns what takes it back; null if it is too much. */
  open(name: string): (() => void) | null {
    const count = this.#counts.get(name) ?? 0;
    if (count >= this.#max) return null;
    this.#counts.set(name, count + 1);
    return () => {
      const left = this.#counts.get(name)! - 1;
      if (left > 0) this.#counts.set(name, left);
      else this.#counts.delete(name);
    };
  }
}
