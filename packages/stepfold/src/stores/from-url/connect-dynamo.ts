import { invalidUrl, parsedUrl, takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { DynamoDocumentClient } from "../databases/dynamo/dynamo-client.ts";
import type { DynamoTableClient } from "../databases/dynamo/dynamo-schema.ts";
import { answerLimitMs } from "./answer-limit.ts";
import type { Site } from "./site.ts";

interface Sdk {
  readonly DynamoDB: new (config: {
    region: string;
    endpoint?: string;
    credentials?: { accessKeyId: string; secretAccessKey: string };
    maxAttempts: number;
    requestHandler: { connectionTimeout: number; requestTimeout: number; throwOnRequestTimeout: true };
  }) => DynamoTableClient & { deleteTable(input: { TableName: string }): Promise<unknown>; destroy(): void };
}

interface DocumentSdk {
  readonly DynamoDBDocument: { from(client: DynamoTableClient): DynamoDocumentClient };
}

/**
 * Connects to `dynamodb://region/table?endpoint=http://127.0.0.1:8000` with the AWS SDK. Without an endpoint the SDK finds the credentials
 * itself.
 */
export async function connectDynamo(text: string, answerMs: number = answerLimitMs): Promise<Site> {
  const { url, taken } = takeParameters(text, { endpoint: "" });
  const { endpoint } = taken;
  const { hostname: region, pathname } = parsedUrl(url);
  const table = pathname.slice(1);
  if (region === "" || !/^[\w.-]{3,255}$/.test(table))
    throw invalidUrl("must name a region and a table of 3 to 255 letters, digits, _ - and . : dynamodb://eu-central-1/workflows");
  if (endpoint !== "" && !/^https?:$/.test(parsedUrl(endpoint).protocol))
    throw invalidUrl('has a parameter "endpoint" that is not an http:// or https:// URL');
  const { createDynamoTable } = await import("../databases/dynamo/dynamo-schema.ts");
  const { dynamoStore } = await import("../databases/dynamo/dynamo-store.ts");
  const { DynamoDB } = await importDriver<Sdk>("@aws-sdk/client-dynamodb", "dynamo");
  const { DynamoDBDocument } = await importDriver<DocumentSdk>("@aws-sdk/lib-dynamodb", "dynamo");
  // with an endpoint the server is a local one, which does not check credentials, but the SDK needs some
  const own = { endpoint, credentials: { accessKeyId: "local", secretAccessKey: "local" } };
  // by default the SDK waits for ever, and with a timeout it only warns unless `throwOnRequestTimeout` is set. Both attempts of a request
  // together must not take longer than `answerMs`
  const maxAttempts = 2;
  const eachMs = answerMs / maxAttempts;
  const requestHandler = { connectionTimeout: eachMs / 2, requestTimeout: eachMs, throwOnRequestTimeout: true } as const;
  const client = new DynamoDB({ region, maxAttempts, requestHandler, ...(endpoint !== "" && own) });
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
      try {
        await client.deleteTable({ TableName: space });
      } catch (cause) {
        if (!(cause instanceof Error && cause.name === "ResourceNotFoundException")) throw cause;
      }
    },
    migrations: async () => null,
    close: async () => client.destroy(),
  };
}
