import type { ToyClient, ToyEntry, ToyKey, ToyTransaction } from "./toy-client.fixture.ts";

/**
 * A very small database of sorted entries with transactions, like FoundationDB and Deno KV. Every call is answered later, and calls that
 * are made at once are answered in any order.
 */
export class ToyServer implements ToyClient {
  /** All entries, in the order of their keys. */
  readonly #entries: ToyEntry[] = [];
  #now = 1_000_000;
  #lastRevision = 0;
  #lastNumber = 0;
  /** The number of next calls that fail. */
  #lost = 0;

  /** Moves the clock forward. */
  advance(durationMs: number): void {
    this.#now += durationMs;
  }

  /** Makes the next `calls` calls fail, as if there were no server. */
  loseConnection(calls: number): void {
    this.#lost = calls;
  }

  now(): Promise<number> {
    return this.#answer(() => this.#now);
  }

  range(from: ToyKey, before: ToyKey, { limit = Number.POSITIVE_INFINITY, isReverse = false } = {}): Promise<readonly ToyEntry[]> {
    return this.#answer(() => {
      const found = this.#entries.slice(this.#indexOf(from), this.#indexOf(before));
      return (isReverse ? found.reverse() : found).slice(0, limit);
    });
  }

  get(key: ToyKey): Promise<ToyEntry | null> {
    return this.#answer(() => this.#find(key));
  }

  commit({ checks, puts, deletes = [] }: ToyTransaction): Promise<boolean> {
    return this.#answer(() => {
      if (checks.some(({ key, revision }) => (this.#find(key)?.revision ?? null) !== revision)) return false;
      for (const key of deletes) this.#entries.splice(this.#indexOf(key), this.#indexOf(after(key)) - this.#indexOf(key));
      for (const { key, value } of puts) this.#put(key, value);
      return true;
    });
  }

  nextNumber(): Promise<number> {
    return this.#answer(() => ++this.#lastNumber);
  }

  #put(key: ToyKey, value: string | null): void {
    const index = this.#indexOf(key);
    const put = value === null ? [] : [{ key, value, revision: ++this.#lastRevision }];
    this.#entries.splice(index, this.#find(key) ? 1 : 0, ...put);
  }

  #find(key: ToyKey): ToyEntry | null {
    const entry = this.#entries[this.#indexOf(key)];
    return entry && compare(entry.key, key) === 0 ? entry : null;
  }

  /** The index of the entry with this key, or the index at which it would be inserted. */
  #indexOf(key: ToyKey): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.#entries[middle]!.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  async #answer<T>(work: () => T): Promise<T> {
    for (let hops = Math.floor(Math.random() * 4); hops >= 0; hops--) await Promise.resolve();
    if (this.#lost > 0) {
      this.#lost--;
      throw Object.assign(new TypeError("the server does not answer"), { code: "ECONNREFUSED" });
    }
    return work();
  }
}

/** A key that follows all keys that begin with this key. */
export function after(key: ToyKey): ToyKey {
  return [...key, lastPart];
}

/** A part of a key that follows every other part. */
const lastPart = "\u{10ffff}\u{10ffff}";

function compare(a: ToyKey, b: ToyKey): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const [one, other] = [a[index]!, b[index]!];
    if (one === other) continue;
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return a.length - b.length;
}
