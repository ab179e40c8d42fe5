/** The execution to which idempotency keys belong. */
export interface KeyOwner {
  readonly workflowId: string;
  readonly incarnation: string;
}

/** An idempotency key that the snapshot of its execution does not hold any more. */
export interface KeptKey {
  /** A hash of the command and its key, so that no key of a caller can be read from it. */
  readonly name: string;
  /** Version of the event that the command made. */
  readonly version: number;
}

/**
 * The older idempotency keys of executions. A snapshot holds the latest ones; the runtime moves older ones here before it takes them out of
 * the snapshot (see `KeyRows`), and asks here for a key that the snapshot does not hold.
 *
 * Keys are kept by the day on which they were given, and a day is deleted as a whole. The days are numbers of the head, so a store need not
 * list them. The store deletes all of them together with their execution.
 */
export interface KeptKeys {
  /** Adds keys of a day. The same name again replaces its version. Several processes may add keys of the same day at once. */
  put(owner: KeyOwner, day: number, keys: readonly KeptKey[]): Promise<void>;
  /** Returns the version under a name in any of these days, the highest one; null: there is none. */
  find(owner: KeyOwner, days: readonly number[], name: string): Promise<number | null>;
  /** Returns all keys of a day, in any order. Needed to copy an execution into another store. */
  all(owner: KeyOwner, day: number): Promise<readonly KeptKey[]>;
  /** Deletes all keys of these days. */
  drop(owner: KeyOwner, days: readonly number[]): Promise<void>;
}

/** The same keys, with each call made by `ask`. */
export function keptKeysThrough(keys: KeptKeys, ask: <T>(work: () => Promise<T>) => Promise<T>): KeptKeys {
  return {
    put: (owner, day, added) => ask(() => keys.put(owner, day, added)),
    find: (owner, days, name) => ask(() => keys.find(owner, days, name)),
    all: (owner, day) => ask(() => keys.all(owner, day)),
    drop: (owner, days) => ask(() => keys.drop(owner, days)),
  };
}
