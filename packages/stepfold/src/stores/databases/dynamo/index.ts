export type { DynamoDocumentClient } from "./dynamo-client.ts";
export { createDynamoTable, type DynamoTable, type DynamoTableClient, dynamoTable } from "./dynamo-schema.ts";
export { type DynamoStoreOptions, dynamoStore } from "./dynamo-store.ts";
