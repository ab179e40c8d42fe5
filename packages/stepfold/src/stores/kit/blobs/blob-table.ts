import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { BlobEntry, BlobStore } from "../../../ports/blob-store.ts";
import { segmentsOf } from "./blob-key.ts";

/** A table of blobs in a database. Keys are compared byte by byte. */
export interface BlobTable {
  /** The name of the database for error messages, such as `postgres`. */
  readonly name: string;
  /** Returns the most bytes that a blob may have in this database. */
  maxBytes(): number | Promise<number>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | null>;
  /** Deletes the blobs from the key `from` (inclusive) to the key `before` (exclusive). */
  deleteBetween(from: string, before: string): Promise<void>;
  /** Returns the entries after a key, in the order of keys. */
  page(after: string, limit: number): Promise<readonly BlobEntry[]>;
}

/** The number of list entries that are read at once. */
const pageSize = 1000;

/**
 * Makes a blob store of a table. Errors of its methods become `StepfoldError`s.
 *
 * @param errorOf turns an error of the database into one of ours
 */
export function blobsOver(table: BlobTable, errorOf: (cause: unknown) => StepfoldError): BlobStore {
  const ask = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      throw StepfoldError.is(cause) ? cause : errorOf(cause);
    }
  };
  return {
    name: table.name,
    put: (key, bytes) =>
      ask(async () => {
        segmentsOf(key);
        const max = await table.maxBytes();
        if (bytes.length > max) {
          const details = { what: `The blob ${key}`, limit: `${table.name} blob in bytes`, max, actual: bytes.length };
          throw new StepfoldError("LIMIT_EXCEEDED", details);
        }
        await table.put(key, bytes);
      }),
    get: (key) =>
      ask(async () => {
        segmentsOf(key);
        return table.get(key);
      }),
    deleteFolder: (folder) =>
      ask(async () => {
        segmentsOf(folder);
        // a range needs no escaping, as a pattern would: "0" is the character after "/"
        await table.deleteBetween(`${folder}/`, `${folder}0`);
      }),
    async *list(): AsyncGenerator<BlobEntry, void> {
      for (let after = ""; ; ) {
        const entries = await ask(() => table.page(after, pageSize));
        yield* entries;
        if (entries.length < pageSize) return;
        after = entries.at(-1)!.key;
      }
    },
  };
}
