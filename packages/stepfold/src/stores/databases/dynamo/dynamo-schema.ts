import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { dynamoError } from "./dynamo-error.ts";

/** An index: its name, and the attributes that are its keys. */
export interface DynamoIndex {
  readonly name: string;
  readonly partition: string;
  readonly sort: string;
}

/** The index of due, ended and deleted executions by time. */
export const dueIndex: DynamoIndex = { name: "due", partition: "dueList", sort: "dueSort" };

/** The index of all executions by time of creation. */
export const createdIndex: DynamoIndex = { name: "created", partition: "listPartition", sort: "made" };

/** The index of executions with events of earlier runs, by the time when their present run began. */
export const runIndex: DynamoIndex = { name: "run", partition: "runList", sort: "runSort" };

/** The index of executions that need none of the permits they have a key for, by the time from which they need none. */
export const exemptIndex: DynamoIndex = { name: "exempt", partition: "exemptList", sort: "exemptSort" };

interface KeyPart {
  AttributeName: string;
  KeyType: "HASH" | "RANGE";
}

interface TableIndex {
  IndexName: string;
  KeySchema: KeyPart[];
  Projection: { ProjectionType: "INCLUDE"; NonKeyAttributes: string[] } | { ProjectionType: "KEYS_ONLY" };
}

/** The input of `CreateTable`. */
export interface DynamoTable {
  TableName: string;
  BillingMode: "PAY_PER_REQUEST";
  AttributeDefinitions: { AttributeName: string; AttributeType: "S" }[];
  KeySchema: KeyPart[];
  GlobalSecondaryIndexes: TableIndex[];
}

/** The methods of `DynamoDB` of `@aws-sdk/client-dynamodb` that are used, declared so that the package is not a dependency. */
export interface DynamoTableClient {
  createTable(input: DynamoTable): Promise<unknown>;
  describeTable(input: { TableName: string }): Promise<{ Table?: { TableStatus?: string | undefined } | undefined }>;
}

/**
 * Returns the table that `dynamoStore` needs, as plain data in the form of `CreateTable`, for the tool that makes your tables.
 *
 * Change nothing in it except the billing mode. You may add encryption, point-in-time recovery, tags, and time to live on the attribute
 * `expiresAt`.
 *
 * ```ts
 * import { dynamoTable } from "stepfold/stores/dynamo";
 *
 * console.log(JSON.stringify(dynamoTable("workflows"), null, 2));
 * ```
 */
export function dynamoTable(name: string): DynamoTable {
  const attributes = ["pk", "sk", "dueList", "dueSort", "listPartition", "made", "runList", "runSort", "exemptList", "exemptSort"];
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: attributes.map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    KeySchema: keySchema("pk", "sk"),
    GlobalSecondaryIndexes: [
      // no projected attribute changes with an ordinary step, so that a step need not write the indexes
      tableIndex(dueIndex, ["definitionId", "permitLimit"]),
      tableIndex(createdIndex, ["status", "definitionId", "tags"]),
      tableIndex(runIndex, ["definitionId"]),
      tableIndex(exemptIndex, []),
    ],
  };
}

/**
 * Makes the table if it does not exist, and waits until it can be used, for about 150 seconds at most. This is for tests and a developer's
 * machine. In production make the table from `dynamoTable` with the tools that make your other tables.
 *
 * @param client `new DynamoDB(...)` of `@aws-sdk/client-dynamodb`
 * @throws StepfoldError `STORE_UNAVAILABLE`, `STORE_REJECTED`
 */
export async function createDynamoTable(client: DynamoTableClient, name: string): Promise<void> {
  try {
    await client.createTable(dynamoTable(name)).catch((cause: unknown) => {
      if (!(cause instanceof Error && cause.name === "ResourceInUseException")) throw cause;
    });
    for (let tries = 0; tries < 300; tries++) {
      const { Table: table } = await client.describeTable({ TableName: name });
      if (table?.TableStatus === "ACTIVE") return;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  } catch (cause) {
    throw dynamoError(name, cause);
  }
  throw new StepfoldError("STORE_UNAVAILABLE", { store: "dynamo", reason: `the table "${name}" is still being made` });
}

function keySchema(partition: string, sort: string): KeyPart[] {
  return [
    { AttributeName: partition, KeyType: "HASH" },
    { AttributeName: sort, KeyType: "RANGE" },
  ];
}

function tableIndex({ name, partition, sort }: DynamoIndex, NonKeyAttributes: string[]): TableIndex {
  const included = { ProjectionType: "INCLUDE" as const, NonKeyAttributes };
  const Projection = NonKeyAttributes.length > 0 ? included : { ProjectionType: "KEYS_ONLY" as const };
  return { IndexName: name, KeySchema: keySchema(partition, sort), Projection };
}
