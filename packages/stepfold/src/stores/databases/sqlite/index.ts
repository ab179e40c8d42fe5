export { type SqliteBlobs, type SqliteBlobsOptions, sqliteBlobs } from "./sqlite-blobs.ts";
export { type SqliteDatabase, type SqliteStoreOptions, sqliteStore } from "./sqlite-store.ts";
