export type { MongoCollection, MongoDatabase, MongoDocument } from "./mongo-client.ts";
export { migrateMongo } from "./mongo-schema.ts";
export { type MongoStoreOptions, mongoStore } from "./mongo-store.ts";
