import type { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { BlobStore } from "../../../ports/blob-store.ts";
import type { ColumnRow } from "../columns.ts";
import { type BlobTable, blobsOver } from "./blob-table.ts";

/** A table of blobs in an SQL database: its statements, and functions that send them. */
export interface SqlBlobTable<V> extends Pick<BlobTable, "name" | "maxBytes"> {
  readonly statements: {
    /** Parameters: key, bytes. */
    readonly put: string;
    /** Parameter: key. Returns `bytes`. */
    readonly get: string;
    /** Parameters: first key (inclusive), last key (exclusive). */
    readonly deleteBetween: string;
    /** Parameters: key, limit. Returns `key` and `written_at` of the entries after the key. */
    readonly page: string;
  };
  /** Sends a statement that reads. */
  ask(text: string, values: readonly (string | number | V)[]): Promise<readonly ColumnRow[]>;
  /** Sends a statement that writes. */
  change(text: string, values: readonly (string | number | V)[]): Promise<unknown>;
  /** Turns bytes into the value of a parameter. */
  toValue(bytes: Uint8Array): V;
  /** Reads the bytes in a column. */
  toBytes(column: unknown): Uint8Array;
  /** Turns an error of the database into one of ours. */
  errorOf(cause: unknown): StepfoldError;
}

/** Makes a blob store of a table in an SQL database. */
export function sqlBlobs<V>({ name, maxBytes, statements, ask, change, toValue, toBytes, errorOf }: SqlBlobTable<V>): BlobStore {
  const table: BlobTable = {
    name,
    maxBytes,
    async put(key, bytes) {
      await change(statements.put, [key, toValue(bytes)]);
    },
    async get(key) {
      const [row] = await ask(statements.get, [key]);
      return row ? toBytes(row.bytes) : null;
    },
    async deleteBetween(from, before) {
      await change(statements.deleteBetween, [from, before]);
    },
    async page(after, limit) {
      const rows = await ask(statements.page, [after, limit]);
      return rows.map(({ key, written_at }) => ({ key: key as string, writtenAt: Number(written_at) }));
    },
  };
  return blobsOver(table, errorOf);
}
