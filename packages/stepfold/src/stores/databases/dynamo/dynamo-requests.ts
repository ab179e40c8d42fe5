import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { BatchAction, DynamoDocumentClient, Item, Key, TransactAction, UpdateAction } from "./dynamo-client.ts";
import { failedCondition, isCongestion } from "./dynamo-error.ts";
import type { DynamoKeys } from "./dynamo-keys.ts";
import { type Change, updateOf } from "./expression.ts";

/** What every request of a store needs. */
export interface Connection {
  readonly client: DynamoDocumentClient;
  readonly table: string;
  readonly keys: DynamoKeys;
  /** The caller's clock: DynamoDB has none. */
  now(): EpochMs;
}

/** What became of a conditional write: its answer, or what lay there if the condition did not hold. */
export type Written<T> = { readonly value: T } | { readonly stored: unknown };

/** How often what may succeed in a moment is tried again: for about two seconds. */
const maxTries = 12;

/** Waits a little, longer each time and never the same. */
export function pause(tries: number): Promise<void> {
  const delayMs = Math.random() * Math.min(5 * 2 ** tries, 400);
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Makes a call again while it meets other writers. To be used for what may happen twice. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (cause) {
      if (tries === maxTries || !isCongestion(cause)) throw cause;
    }
    await pause(tries);
  }
}

/** The item of a key, as it is now. */
export async function itemAt({ client, table }: Connection, key: Key): Promise<Item | null> {
  const { Item: item } = await insist(() => client.get({ TableName: table, Key: key, ConsistentRead: true }));
  return item ?? null;
}

/** A change of one item as an action. */
export function updateAction({ table }: Connection, key: Key, change: Change): UpdateAction {
  return { TableName: table, Key: key, ...updateOf(change), ReturnValuesOnConditionCheckFailure: "ALL_OLD" };
}

/** Changes one item. Gives all of its attributes, or what lay there if a condition did not hold. */
export function updateItem(connection: Connection, key: Key, change: Change): Promise<Written<Item>> {
  return conditional(async () => {
    const input = { ...updateAction(connection, key, change), ReturnValues: "ALL_NEW" as const };
    return (await connection.client.update(input)).Attributes ?? {};
  });
}

/** Makes all of the actions or none. */
export function transact({ client }: Connection, actions: TransactAction[]): Promise<Written<unknown>> {
  return conditional(() => client.transactWrite({ TransactItems: actions }));
}

/** Gives what lay there if a condition did not hold. */
export async function conditional<T>(write: () => Promise<T>): Promise<Written<T>> {
  try {
    return { value: await insist(write) };
  } catch (cause) {
    const stored = failedCondition(cause);
    if (stored === undefined) throw cause;
    return { stored };
  }
}

/** Which items of a partition, and of which index. */
export interface Range {
  readonly from: string;
  readonly to: string;
  readonly limit?: number | undefined;
  /** Attributes that are wanted. Default: all. */
  readonly only?: readonly string[];
  /** With the names of the partition's and the sort key. Default: the table itself, as it is now. */
  readonly index?: { readonly name: string; readonly partition: string; readonly sort: string; readonly newestFirst?: boolean };
  readonly filter?: { readonly text: string; readonly names: Record<string, string>; readonly values: Record<string, unknown> };
}

/** Items of one partition, page by page. */
export async function* itemsOf({ client, table }: Connection, partition: string, range: Range): AsyncGenerator<Item> {
  const { from, to, limit, only, index, filter } = range;
  const names = Object.fromEntries((only ?? []).map((name) => [`#${name}`, name]));
  const keys = { "#partition": index?.partition ?? "pk", "#sort": index?.sort ?? "sk" };
  for (let start: Item | undefined; ; ) {
    const { Items: items = [], LastEvaluatedKey: last } = await insist(() =>
      client.query({
        TableName: table,
        ...(index ? { IndexName: index.name, ScanIndexForward: !index.newestFirst } : { ConsistentRead: true }),
        KeyConditionExpression: "#partition = :partition AND #sort BETWEEN :from AND :to",
        ExpressionAttributeNames: { ...keys, ...names, ...filter?.names },
        ExpressionAttributeValues: { ":partition": partition, ":from": from, ":to": to, ...filter?.values },
        ...(filter && { FilterExpression: filter.text }),
        ...(only && { ProjectionExpression: only.map((name) => `#${name}`).join(", ") }),
        // counts what is looked at, not what passes a filter
        ...(limit !== undefined && { Limit: filter ? Math.max(limit, 500) : limit }),
        ...(start && { ExclusiveStartKey: start }),
      }),
    );
    yield* items;
    if (!last) return;
    start = last;
  }
}

/** The first of them. */
export async function firstItems(connection: Connection, partition: string, range: Range & { readonly limit: number }): Promise<Item[]> {
  const found: Item[] = [];
  if (range.from > range.to) return found;
  for await (const item of itemsOf(connection, partition, range)) {
    found.push(item);
    if (found.length === range.limit) break;
  }
  return found;
}

/** Items by partition, as they are now; one of each partition at most. */
export async function batchGet({ client, table }: Connection, keys: readonly Key[]): Promise<ReadonlyMap<string, Item>> {
  const items = new Map<string, Item>();
  await inBatches(
    keys.map((key): Item => ({ ...key })),
    100,
    async (left) => {
      const { Responses: found, UnprocessedKeys: undone } = await client.batchGet({
        RequestItems: { [table]: { Keys: left, ConsistentRead: true } },
      });
      for (const item of found?.[table] ?? []) items.set(String(item.pk), item);
      return undone?.[table]?.Keys ?? [];
    },
  );
  return items;
}

/** Puts items that nothing refers to yet, in any order. */
export function putItems(connection: Connection, items: readonly Item[]): Promise<void> {
  return batchWrite(
    connection,
    items.map((item) => ({ PutRequest: { Item: item } })),
  );
}

/** Deletes items that nothing refers to any more, in any order. */
export function deleteItems(connection: Connection, keys: readonly Key[]): Promise<void> {
  return batchWrite(
    connection,
    keys.map((key) => ({ DeleteRequest: { Key: { ...key } } })),
  );
}

/** 25 parts of long texts are half of the 16 MB that a batch may have. */
function batchWrite({ client, table }: Connection, actions: readonly BatchAction[]): Promise<void> {
  return inBatches(actions, 25, async (left) => {
    const { UnprocessedItems: undone } = await client.batchWrite({ RequestItems: { [table]: left } });
    return undone?.[table] ?? [];
  });
}

/** What the service leaves undone in a batch is sent again: a partition takes 1 MB a second, once its reserve is used up. */
async function inBatches<T>(all: readonly T[], size: number, send: (some: T[]) => Promise<T[]>): Promise<void> {
  for (let at = 0; at < all.length; at += size) {
    let left = all.slice(at, at + size);
    for (let tries = 0; left.length > 0; tries++) {
      if (tries > maxTries)
        throw new StepfoldError("STORE_UNAVAILABLE", { store: "dynamo", reason: "it left part of a batch undone, again and again" });
      if (tries > 0) await pause(tries + 1);
      const undone = await insist(() => send(left));
      if (undone.length < left.length) tries = 0;
      left = undone;
    }
  }
}
