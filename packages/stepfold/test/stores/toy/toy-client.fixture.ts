/** The key of an entry. Keys are compared part by part, and numbers come before texts. */
export type ToyKey = readonly (number | string)[];

/** An entry. */
export interface ToyEntry {
  readonly key: ToyKey;
  /** The value as JSON. */
  readonly value: string;
  /** A number that changes with every write of the entry. */
  readonly revision: number;
}

/** Changes that are made all together, or not at all. */
export interface ToyTransaction {
  /** Entries that must still have this revision. Null: the entry must not exist. */
  readonly checks: readonly { readonly key: ToyKey; readonly revision: number | null }[];
  /** Entries to write. The value null deletes the entry. */
  readonly puts: readonly { readonly key: ToyKey; readonly value: string | null }[];
  /** All entries whose keys begin with one of these keys are deleted. */
  readonly deletes?: readonly ToyKey[];
}

/** The methods that a store uses of a client of the toy database. */
export interface ToyClient {
  /** The clock of the server, in epoch milliseconds. */
  now(): Promise<number>;
  /** The entries from the key `from` on and before the key `before`, in the order of their keys or in reverse. */
  range(from: ToyKey, before: ToyKey, options?: { readonly limit?: number; readonly isReverse?: boolean }): Promise<readonly ToyEntry[]>;
  get(key: ToyKey): Promise<ToyEntry | null>;
  /** Makes a transaction. False: a check failed, and nothing was written. */
  commit(transaction: ToyTransaction): Promise<boolean>;
  /** Returns a number that is higher than all numbers returned before. */
  nextNumber(): Promise<number>;
}
