export { type PostgresBlobsOptions, postgresBlobs } from "./postgres-blobs.ts";
export type { PostgresClient } from "./postgres-client.ts";
export { migratePostgres, postgresMigrations } from "./postgres-schema.ts";
export { type PostgresStoreOptions, postgresStore } from "./postgres-store.ts";
