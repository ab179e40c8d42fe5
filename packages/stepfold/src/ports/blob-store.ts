import type { EpochMs } from "../core/values/json.ts";

/** An entry in the list of blobs. */
export interface BlobEntry {
  readonly key: string;
  /** When the blob was written for the last time, by the clock of the blob store. */
  readonly writtenAt: EpochMs;
}

/**
 * Keeps values that are too large for a database. Stepfold never changes the content under a key, because the key contains a hash of the
 * content.
 *
 * Keys are one to ten segments of letters, digits and `. _ ~ % -`, with `/` between them; no segment begins with a dot,
 * none is longer than 255 characters, no key longer than 900. A key is never the folder of another. Any method may reject with
 * any error of the service: a `blobbedStore` turns it into `STORE_UNAVAILABLE`, unless it is a `StepfoldError`.
 */
export interface BlobStore {
  readonly name: string;
  /** Resolves once the bytes are durable. No reader ever sees half of a blob. Putting the same bytes again is allowed. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Null if there is nothing under the key. */
  get(key: string): Promise<Uint8Array | null>;
  /** Deletes every blob whose key begins with these segments. Resolves also if there are none. */
  deleteFolder(folder: string): Promise<void>;
  /** All blobs, in any order. */
  list(): AsyncIterable<BlobEntry>;
}
