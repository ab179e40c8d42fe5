import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { BlobEntry, BlobStore } from "../../../ports/blob-store.ts";
import { segmentsOf } from "./blob-key.ts";

/** A table of blobs, as a database has it. Keys are compared byte by byte. */
export interface BlobTable {
  /** Of the database, for people: `postgres`. */
  readonly name: string;
  /** The most bytes that a blob may have here. */
  maxBytes(): number | Promise<number>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  get(key: string): Promise<Uint8Array | null>;
  /** Deletes what lies from one key on and before another one. */
  deleteBetween(from: string, before: string): Promise<void>;
  /** What follows a key, in the order of keys. */
  page(after: string, limit: number): Promise<readonly BlobEntry[]>;
}

/** Entries of a list that are read at once. */
const pageSize = 1000;

/**
 * Blobs in a table. What its methods reject with becomes one of our errors.
 *
 * @param errorOf says what went wrong in the database
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
        // no pattern, in which keys would have to be escaped: "0" is the character that follows "/"
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
