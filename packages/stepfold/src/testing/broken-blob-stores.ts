import { brokenBlobBytes } from "./broken/blobs/broken-blob-bytes.ts";
import { brokenBlobKeys } from "./broken/blobs/broken-blob-keys.ts";
import { brokenBlobLists } from "./broken/blobs/broken-blob-lists.ts";
import type { BrokenBlobStore } from "./broken/blobs/broken-blob-store.ts";

/**
 * Plausible wrong blob stores, each a wrapper around a right one: they show that `blobStoreContract` would notice.
 *
 * ```ts
 * import { brokenBlobStores } from "stepfold/testing";
 *
 * for (const { name, caughtBy } of brokenBlobStores) console.log(name, "is caught by", caughtBy);
 * ```
 */
export const brokenBlobStores: readonly BrokenBlobStore[] = [...brokenBlobBytes, ...brokenBlobKeys, ...brokenBlobLists];
