import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { afterAll } from "vitest";
import type { DynamoDocumentClient } from "../../../src/stores/databases/dynamo/dynamo-client.ts";
import { createDynamoTable, dynamoStore } from "../../../src/stores/databases/dynamo/index.ts";
import type { StoreBench } from "../../../src/testing/index.ts";
import { cuttableWay } from "./cuttable-way.fixture.ts";

/** A table in DynamoDB Local. */
export interface LocalTable {
  readonly client: DynamoDB;
  readonly table: string;
  readonly url: string;
}

/**
 * A client of DynamoDB Local, which takes any credentials. A client that makes no second attempt opens a connection for each request: the
 * server ends connections that rest, and a request that is sent at that moment is lost.
 */
export function localClient(url: string, maxAttempts = 3): DynamoDB {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const requestHandler = { httpAgent: { keepAlive: maxAttempts > 1 } };
  return new DynamoDB({ endpoint: url, region: "us-east-1", credentials, maxAttempts, requestHandler });
}

/** Returns a function that makes a table for the tests of one file at its first call. The table is dropped after the tests. */
export function useTable(url: string | null): () => Promise<LocalTable> {
  const table = `stepfold_${Date.now()}_${process.pid}`;
  let made: Promise<LocalTable> | null = null;
  afterAll(async () => {
    if (!made) return;
    const { client } = await made;
    await client.deleteTable({ TableName: table });
    client.destroy();
  });
  const make = async (): Promise<LocalTable> => {
    const client = localClient(url!);
    await createDynamoTable(client, table);
    return { client, table, url: url! };
  };
  return () => {
    made ??= make();
    return made;
  };
}

/** A bench on a prefix of its own in the table. Its clock is moved by `advance`, because DynamoDB has no clock. */
export async function dynamoBench({ client, table, url }: LocalTable, prefix: string): Promise<StoreBench> {
  let now = 1_000_000;
  const way = await cuttableWay(url);
  // the client makes no retries itself, so that a lost answer reaches the store
  const own = localClient(way.url, 1);
  const options = { table, prefix, now: () => now, idempotencyRetentionMs: 1000, maxValueBytes: 1_000_000 };
  const store = dynamoStore(DynamoDBDocument.from(own), options);
  return {
    store: {
      ...store,
      async close() {
        await store.close();
        own.destroy();
        await way.close();
      },
    },
    retentionMs: 1000,
    open: async () => dynamoStore(DynamoDBDocument.from(client), options),
    async advance(durationMs) {
      now += durationMs;
    },
    async damage(workflowId) {
      await DynamoDBDocument.from(client).update({
        TableName: table,
        Key: { pk: `${prefix}.x#${workflowId}`, sk: "head" },
        UpdateExpression: "SET #head = :head",
        ExpressionAttributeNames: { "#head": "head" },
        ExpressionAttributeValues: { ":head": "{" },
      });
    },
    async cut() {
      way.cut();
    },
  };
}

/** The sort keys of all items in the partition of an execution. */
export function rowsIn(local: LocalTable, prefix: string, workflowId: string): Promise<string[]> {
  return rowsOfPartition(local, `${prefix}.x#${workflowId}`);
}

/** The sort keys of all items of a partition. */
export async function rowsOfPartition({ client, table }: LocalTable, partition: string): Promise<string[]> {
  const rows: string[] = [];
  for (let start: Record<string, unknown> | undefined; ; ) {
    const { Items: items = [], LastEvaluatedKey: last } = await DynamoDBDocument.from(client).query({
      TableName: table,
      KeyConditionExpression: "pk = :pk",
      ExpressionAttributeValues: { ":pk": partition },
      ConsistentRead: true,
      ...(start && { ExclusiveStartKey: start }),
    });
    rows.push(...items.map(({ sk }) => String(sk)));
    if (!last) return rows;
    start = last;
  }
}

/** The methods of a client as an object, so that some of them can be replaced. */
export function methodsOf(client: DynamoDocumentClient): DynamoDocumentClient {
  return {
    get: (input) => client.get(input),
    put: (input) => client.put(input),
    update: (input) => client.update(input),
    delete: (input) => client.delete(input),
    query: (input) => client.query(input),
    transactWrite: (input) => client.transactWrite(input),
    batchGet: (input) => client.batchGet(input),
    batchWrite: (input) => client.batchWrite(input),
  };
}
