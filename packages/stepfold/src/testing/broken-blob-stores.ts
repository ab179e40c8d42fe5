import { brokenBlobBytes } from "./broken/blobs/broken-blob-bytes.ts";
import { brokenBlobKeys } from "./broken/blobs/broken-blob-keys.ts";
import { brokenBlobLists } from "./broken/blobs/broken-blob-lists.ts";
import type { BrokenBlobStore } from "./broken/blobs/broken-blob-store.ts";

/**
 * Blob stores with plausible mistakes, each a wrapper around a correct one. They show that `blobStoreContract` finds such mistakes.
 *
 * ```ts
 * import { brokenBlobStores } from "stepfold/testing";
 *
 * for (const { name, caughtBy } of brokenBlobStores) console.log(name, "is caught by", caughtBy);
 * ```
 */
export const brokenBlobStores: readonly BrokenBlobStore[] = [...brokenBlobBytes, ...brokenBlobKeys, ...brokenBlobLists];
