export { migratePostgres } from "./migrate-postgres.ts";
export { postgresMigrations } from "./migrations.ts";
export { type PostgresBlobsOptions, postgresBlobs } from "./postgres-blobs.ts";
export type { PostgresClient } from "./postgres-client.ts";
export { type PostgresStoreOptions, postgresStore } from "./postgres-store.ts";
