/**
 * The kinds of records that a store keeps in addition to executions.
 *
 * - `definition`: a workflow definition, by its hash.
 * - `permit`: the holders of the permits of one key, or the state of one rate, by that key.
 * - `worker`: a part of the workers; see `live-workers.ts`.
 * - `library`: a part of the list of definitions; see `definition-library.ts`.
 * - `label`: the published definition of a workflow, by the hash of the workflow's id.
 * - `key`: a part of the older idempotency keys of an execution; see `table-keys.ts`.
 */
export type RecordKind = "definition" | "permit" | "worker" | "library" | "label" | "key";

/** A small text that several processes may change. */
export interface StoredRecord {
  readonly key: string;
  /** Changes with every write. */
  readonly revision: string;
  /** JSON. */
  readonly text: string;
}

/** A write of a record. It is made only if the record still has the revision that was read. */
export interface RecordWrite {
  readonly key: string;
  /** The revision that was read; null: there was no record. */
  readonly expected: string | null;
  /** Null: the record is deleted. */
  readonly next: { readonly revision: string; readonly text: string } | null;
}

/** Records by kind and key. Each is changed by compare-and-set of its revision. */
export interface RecordTable {
  /** Keys without a record are missing in the answer. */
  get(kind: RecordKind, keys: readonly string[]): Promise<ReadonlyMap<string, StoredRecord>>;
  /** Makes writes on different keys, each independently. Returns for each write whether it was made. */
  put(kind: RecordKind, writes: readonly RecordWrite[]): Promise<readonly boolean[]>;
}
