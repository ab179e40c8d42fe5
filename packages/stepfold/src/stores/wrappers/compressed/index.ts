export { type CompressedStoreOptions, compressedStore } from "./compressed-store.ts";
