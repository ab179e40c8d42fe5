export type { BlobEntry, BlobStore } from "../../../ports/blob-store.ts";
export { type BlobbedStoreOptions, blobbedStore } from "./blobbed-store.ts";
export { type CollectOptions, type CollectReport, collectOrphans } from "./collect-orphans.ts";
export { fileBlobs } from "./file-blobs.ts";
export { type S3BlobsOptions, type S3Client, type S3Page, s3Blobs } from "./s3-blobs.ts";
