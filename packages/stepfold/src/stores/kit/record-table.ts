/**
 * What stands beside the executions of a store, by its kind: definitions by their hash, holders of permits by their key, parts of the workers, parts of
 * the list of definitions, published definitions by the hash of the id.
 */
export type RecordKind = "definition" | "permit" | "worker" | "library" | "label";

/** A small text that several processes may change. */
export interface StoredRecord {
  readonly key: string;
  /** Another one with every write. */
  readonly revision: string;
  /** JSON. */
  readonly text: string;
}

/** A write of a record, which is made only if the record is as it was read. */
export interface RecordWrite {
  readonly key: string;
  /** The revision that was read; null: there was none. */
  readonly expected: string | null;
  /** Null: it is to be deleted. */
  readonly next: { readonly revision: string; readonly text: string } | null;
}

/** Texts by kind and key, each changed by comparing and setting. */
export interface RecordTable {
  get(kind: RecordKind, keys: readonly string[]): Promise<ReadonlyMap<string, StoredRecord>>;
  /** Makes writes on different keys, each on its own. For each: whether it was made. */
  put(kind: RecordKind, writes: readonly RecordWrite[]): Promise<readonly boolean[]>;
}
