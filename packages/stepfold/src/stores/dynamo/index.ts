export type { DynamoDocumentClient } from "./document-client.ts";
export { type DynamoStoreOptions, dynamoStore } from "./dynamo-store.ts";
export { createDynamoTable, type DynamoTable, type DynamoTableClient, dynamoTable } from "./table.ts";
