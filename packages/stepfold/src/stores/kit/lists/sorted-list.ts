/** A list that keeps its values sorted. While a value is in the list, its place in the order must not change. */
export class SortedList<T> {
  readonly #values: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  /** @param compare negative if the first one comes first; never 0 for two different values */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#values.length;
  }

  add(value: T): void {
    this.#values.splice(this.#indexOf(value), 0, value);
  }

  /** Removes a value that is in the list. */
  remove(value: T): void {
    this.#values.splice(this.#indexOf(value), 1);
  }

  /** Returns the first values, at most `limit`, up to the first value for which `isWanted` returns false. */
  first(limit: number, isWanted: (value: T) => boolean): T[] {
    const found: T[] = [];
    for (const value of this.#values) {
      if (found.length >= limit || !isWanted(value)) break;
      found.push(value);
    }
    return found;
  }

  /** Returns the index of a value, or the index at which it must be inserted. */
  #indexOf(value: T): number {
    let [low, high] = [0, this.#values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(this.#values[middle]!, value) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
