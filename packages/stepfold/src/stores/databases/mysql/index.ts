export { type MysqlBlobsOptions, mysqlBlobs } from "./mysql-blobs.ts";
export type { MysqlConnection, MysqlOwnConnection, MysqlPool, MysqlStatement } from "./mysql-client.ts";
export { migrateMysql, mysqlMigrations } from "./mysql-schema.ts";
export { type MysqlStoreOptions, mysqlStore } from "./mysql-store.ts";
