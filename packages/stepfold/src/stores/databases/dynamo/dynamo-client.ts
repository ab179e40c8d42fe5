/** The value of an attribute. Texts are never empty, because a client may be configured to turn empty texts into null. */
export type Attribute = string | number | readonly string[];

/** An item as the client returns it. */
export type Item = Record<string, unknown>;

/** The key of an item. */
export type Key = { pk: string; sk: string };

/** The condition of a write, with its names and values. */
export interface DynamoExpression {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** Replaces an item. */
interface PutAction extends DynamoExpression {
  TableName: string;
  Item: Item;
}

/** Changes attributes of an item. */
export interface UpdateAction extends DynamoExpression {
  TableName: string;
  Key: Key;
  UpdateExpression: string;
}

/** One action of a transaction: either `Put` or `Update`. */
export interface TransactAction {
  Put?: PutAction;
  Update?: UpdateAction;
}

/** A query for items of one partition, in the order of their sort keys. */
interface QueryInput extends Pick<DynamoExpression, "ExpressionAttributeNames"> {
  TableName: string;
  IndexName?: string;
  ConsistentRead?: boolean;
  KeyConditionExpression: string;
  FilterExpression?: string;
  ProjectionExpression?: string;
  ExpressionAttributeValues: Record<string, unknown>;
  ScanIndexForward?: boolean;
  Limit?: number;
  ExclusiveStartKey?: Item;
}

/** The methods of `DynamoDBDocument` of `@aws-sdk/lib-dynamodb` that are used, declared so that the package is not a dependency. */
export interface DynamoDocumentClient {
  get(input: { TableName: string; Key: Key; ConsistentRead?: boolean }): Promise<{ Item?: Item | undefined }>;
  put(input: PutAction & { ReturnValues?: "ALL_OLD" }): Promise<{ Attributes?: Item | undefined }>;
  update(input: UpdateAction & { ReturnValues?: "ALL_NEW" }): Promise<{ Attributes?: Item | undefined }>;
  delete(input: DynamoExpression & { TableName: string; Key: Key; ReturnValues?: "ALL_OLD" }): Promise<{ Attributes?: Item | undefined }>;
  query(input: QueryInput): Promise<{ Items?: Item[] | undefined; LastEvaluatedKey?: Item | undefined }>;
  transactWrite(input: { TransactItems: TransactAction[] }): Promise<unknown>;
  batchGet(input: { RequestItems: Record<string, { Keys: Item[]; ConsistentRead?: boolean }> }): Promise<{
    Responses?: Record<string, Item[]> | undefined;
    UnprocessedKeys?: Record<string, { Keys: Item[] | undefined; ConsistentRead?: boolean | undefined }> | undefined;
  }>;
  batchWrite(input: { RequestItems: Record<string, BatchAction[]> }): Promise<{
    UnprocessedItems?: Record<string, BatchAction[]> | undefined;
  }>;
}

/** One action of a batch: it puts or deletes one item. */
export interface BatchAction {
  PutRequest?: { Item: Item | undefined } | undefined;
  DeleteRequest?: { Key: Item | undefined } | undefined;
}
