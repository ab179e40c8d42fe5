import type { EpochMs } from "../core/values/json.ts";

/** A blob as a list shows it. */
export interface BlobEntry {
  readonly key: string;
  readonly writtenAt: EpochMs;
}

/**
 * The home of values that are too large for a database. Stepfold never changes what lies under a key: a key names its
 * content.
 *
 * Keys are one to ten segments of letters, digits and `. _ ~ % -`, with `/` between them; no segment begins with a dot,
 * none is longer than 255 characters, no key longer than 900. A key is never the folder of another. Any method may reject with
 * whatever the service says: Stepfold makes it `STORE_UNAVAILABLE`.
 */
export interface BlobStore {
  readonly name: string;
  /** Resolves once the bytes are durable. Never seen half. Putting the same again is no mistake. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Null if there is nothing under the key. */
  get(key: string): Promise<Uint8Array | null>;
  /** Deletes every blob whose key begins with these segments. To delete what is not there is no mistake. */
  deleteFolder(folder: string): Promise<void>;
  /** All blobs, in any order. */
  list(): AsyncIterable<BlobEntry>;
}
