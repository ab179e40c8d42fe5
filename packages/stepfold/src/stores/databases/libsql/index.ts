export { type LibsqlBlobsOptions, libsqlBlobs } from "./libsql-blobs.ts";
export type { LibsqlClient, LibsqlResult, LibsqlRow, LibsqlStatement } from "./libsql-client.ts";
export { libsqlMigrations, migrateLibsql } from "./libsql-schema.ts";
export { type LibsqlStoreOptions, libsqlStore } from "./libsql-store.ts";
