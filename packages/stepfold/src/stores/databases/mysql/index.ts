export { migrateMysql, mysqlMigrations } from "./migrations.ts";
export { type MysqlBlobsOptions, mysqlBlobs } from "./mysql-blobs.ts";
export type { MysqlConnection, MysqlPool, MysqlStatement } from "./mysql-client.ts";
export { type MysqlStoreOptions, mysqlStore } from "./mysql-store.ts";
