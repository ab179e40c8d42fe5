import { brokenBlobBytes } from "./broken/broken-blob-bytes.ts";
import { brokenBlobKeys } from "./broken/broken-blob-keys.ts";
import { brokenBlobLists } from "./broken/broken-blob-lists.ts";
import type { BrokenBlobStore } from "./broken/broken-blob-store.ts";

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
