import type { DynamoDocumentClient } from "../dynamo/document-client.ts";
import type { DynamoTableClient } from "../dynamo/table.ts";
import { importDriver } from "./import-driver.ts";
import { type Site, takeParameter } from "./site.ts";

interface Sdk {
  readonly DynamoDB: new (config: {
    region: string;
    endpoint?: string;
    credentials?: { accessKeyId: string; secretAccessKey: string };
  }) => DynamoTableClient & { deleteTable(input: { TableName: string }): Promise<unknown>; destroy(): void };
}

interface DocumentSdk {
  readonly DynamoDBDocument: { from(client: DynamoTableClient): DynamoDocumentClient };
}

/** `dynamodb://region/table?endpoint=http://127.0.0.1:8000`, with the AWS SDK; credentials as it finds them. */
export async function connectDynamo(text: string): Promise<Site> {
  const url = new URL(text);
  const endpoint = takeParameter(url, "endpoint", "");
  const table = url.pathname.slice(1);
  const { createDynamoTable } = await import("../dynamo/table.ts");
  const { dynamoStore } = await import("../dynamo/dynamo-store.ts");
  const { DynamoDB } = await importDriver<Sdk>("@aws-sdk/client-dynamodb", "dynamo");
  const { DynamoDBDocument } = await importDriver<DocumentSdk>("@aws-sdk/lib-dynamodb", "dynamo");
  // whoever names an endpoint talks to a server of their own, which looks at no credentials
  const own = { endpoint, credentials: { accessKeyId: "local", secretAccessKey: "local" } };
  const client = new DynamoDB({ region: url.host, ...(endpoint !== "" && own) });
  const documents = DynamoDBDocument.from(client);
  return {
    name: "dynamo",
    space: table,
    hasSpaces: true,
    async open(space, { migrate = false, idempotencyRetentionMs }) {
      if (migrate) await createDynamoTable(client, space);
      return dynamoStore(documents, { table: space, ...(idempotencyRetentionMs !== undefined && { idempotencyRetentionMs }) });
    },
    async drop(space) {
      await client.deleteTable({ TableName: space });
    },
    migrations: async () => null,
    close: async () => client.destroy(),
  };
}
