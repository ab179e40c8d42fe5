/** The key of an entry: compared part by part, numbers before texts. */
export type ToyKey = readonly (number | string)[];

/** An entry. */
export interface ToyEntry {
  readonly key: ToyKey;
  /** JSON. */
  readonly value: string;
  /** Another one with every write of the entry. */
  readonly revision: number;
}

/** Changes that are made all together, or not at all. */
export interface ToyTransaction {
  /** Entries that must be as they were read; null: they must not be there. */
  readonly checks: readonly { readonly key: ToyKey; readonly revision: number | null }[];
  /** Null deletes the entry. */
  readonly puts: readonly { readonly key: ToyKey; readonly value: string | null }[];
  /** Entries whose keys begin so are deleted. */
  readonly deletes?: readonly ToyKey[];
}

/** What is used of a client of the toy database. */
export interface ToyClient {
  /** The clock of the server, in epoch milliseconds. */
  now(): Promise<number>;
  /** Entries from one key on and before another one, in the order of their keys, or in reverse. */
  range(from: ToyKey, before: ToyKey, options?: { readonly limit?: number; readonly isReverse?: boolean }): Promise<readonly ToyEntry[]>;
  get(key: ToyKey): Promise<ToyEntry | null>;
  /** False: a check failed, and nothing was written. */
  commit(transaction: ToyTransaction): Promise<boolean>;
  /** A number that was never given before, and is higher than all that were. */
  nextNumber(): Promise<number>;
}
