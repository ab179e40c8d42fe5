/** What an attribute may hold here. Never an empty text: a client may be set to turn those into null. */
export type Attribute = string | number | readonly string[];

/** An item as the client gives it. */
export type Item = Record<string, unknown>;

/** The key of an item. */
export type Key = { pk: string; sk: string };

/** Guards and values of a write. */
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

/** One action of a transaction. */
export interface TransactAction {
  Put?: PutAction;
  Update?: UpdateAction;
}

/** Items of one partition, in order of their sort key. */
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

/** The methods used of `DynamoDBDocument` of `@aws-sdk/lib-dynamodb`, which is no dependency. */
export interface DynamoDocumentClient {
  get(input: { TableName: string; Key: Key; ConsistentRead?: boolean }): Promise<{ Item?: Item | undefined }>;
  put(input: PutAction): Promise<unknown>;
  update(input: UpdateAction & { ReturnValues?: "ALL_NEW" }): Promise<{ Attributes?: Item | undefined }>;
  delete(input: DynamoExpression & { TableName: string; Key: Key }): Promise<unknown>;
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

/** One action of a batch. */
export interface BatchAction {
  PutRequest?: { Item: Item | undefined } | undefined;
  DeleteRequest?: { Key: Item | undefined } | undefined;
}
