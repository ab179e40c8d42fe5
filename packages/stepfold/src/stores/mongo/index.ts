export { migrateMongo } from "./migrate-mongo.ts";
export type { MongoCollection, MongoDatabase, MongoDocument, MongoWrite } from "./mongo-client.ts";
export { type MongoStoreOptions, mongoStore } from "./mongo-store.ts";
