import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionGuard } from "../../kit/execution-rows.ts";
import type { BatchAction, DynamoDocumentClient, Item, Key, TransactAction, UpdateAction } from "./dynamo-client.ts";
import { isCongestion, isFailedCondition } from "./dynamo-error.ts";
import type { DynamoKeys, SortKeys } from "./dynamo-keys.ts";
import type { DynamoIndex } from "./dynamo-schema.ts";
import { type Attributes, Conditions, conditionOf, type Test, updateOf } from "./expression.ts";

/** The values that every request of a store needs. */
export interface Connection {
  readonly client: DynamoDocumentClient;
  readonly table: string;
  readonly keys: DynamoKeys;
  /** How long the id of a deleted execution stays taken, in milliseconds. */
  readonly retentionMs: number;
  /** What this store object knows about executions, by partition. If an id was used again: about its last incarnation. */
  readonly known: Map<string, KnownHead>;
  /** The caller's clock, because DynamoDB has none. */
  now(): EpochMs;
  /** Returns a number that distinguishes executions created in the same millisecond. */
  nextSeq(): number;
}

/**
 * The fields of an execution that was read or written, which later writes need: sort keys depend on `made` and `permit`, and a commit that
 * replaces a head stored in parts deletes these parts.
 */
export interface KnownHead extends Pick<ExecutionGuard, "incarnation" | "permit" | "version"> {
  readonly pk: string;
  /** The sort key in the index of all executions: the time of creation and a number that makes it unique. */
  readonly made: string;
  /** JSON, or a reference to its parts (see `storeText`). Only a reference is remembered; else "". */
  readonly head: string;
}

/** How many times a call that may succeed in a moment is tried again: with `pause`, for 1.3 seconds on average. */
const maxTries = 12;

/** Waits for a short random time, which grows with the number of tries. */
export function pause(tries: number): Promise<void> {
  const delayMs = Math.random() * Math.min(5 * 2 ** tries, 400);
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Repeats a call that fails because of other writers or throughput limits. Only for calls that may be made twice. */
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

/** Makes a conditional write. Null if its condition does not hold. */
async function conditional<T>(write: () => Promise<T>): Promise<{ readonly answer: T } | null> {
  try {
    return { answer: await insist(write) };
  } catch (cause) {
    if (isFailedCondition(cause)) return null;
    throw cause;
  }
}

/** Reads the present item of a key. */
export async function itemAt({ client, table }: Connection, key: Key): Promise<Item | null> {
  const { Item: item } = await insist(() => client.get({ TableName: table, Key: key, ConsistentRead: true }));
  return item ?? null;
}

/** Makes all actions in one transaction. False if a condition does not hold; then none is made. */
export async function transact({ client }: Connection, actions: TransactAction[]): Promise<boolean> {
  return (await conditional(() => client.transactWrite({ TransactItems: actions }))) !== null;
}

/** Puts an item. False if a condition does not hold. */
export async function putItem({ client, table }: Connection, item: Item, when: readonly Test[]): Promise<boolean> {
  return (await conditional(() => client.put({ TableName: table, Item: item, ...conditionOf(when) }))) !== null;
}

/** Puts an item in place of the present one, or deletes it. Returns the one before, empty if there was none; null: a condition does not hold. */
export async function replaceItem({ client, table }: Connection, key: Key, next: Item | null, when: readonly Test[]): Promise<Item | null> {
  const input = { TableName: table, ReturnValues: "ALL_OLD" as const, ...conditionOf(when) };
  const made = await conditional(() =>
    next ? client.put({ ...input, Item: { ...key, ...next } }) : client.delete({ ...input, Key: key }),
  );
  return made && (made.answer.Attributes ?? {});
}

/** Makes the action that changes one item. */
export function updateAction({ table }: Connection, key: Key, set: Attributes, when: readonly Test[]): UpdateAction {
  return { TableName: table, Key: key, ...updateOf(set, when) };
}

/** Changes one item. Returns the item as it is afterwards; null if a condition does not hold. */
export async function updateItem(connection: Connection, key: Key, set: Attributes, when: readonly Test[]): Promise<Item | null> {
  const input = { ...updateAction(connection, key, set, when), ReturnValues: "ALL_NEW" as const };
  const updated = await conditional(() => connection.client.update(input));
  return updated && (updated.answer.Attributes ?? {});
}

/** Selects items of a partition of the table or of an index. */
export interface Range extends SortKeys {
  readonly limit?: number | undefined;
  /** The attributes to read. Default: all. */
  readonly only?: readonly string[];
  /** The index to read, which may be outdated. Default: the table itself, with a consistent read. */
  readonly index?: DynamoIndex;
  /** Descending order of sort keys; only with an index. */
  readonly newestFirst?: boolean;
  readonly filter?: readonly Test[];
}

/** Reads items of one partition: the first `limit` ones, or all if there is no limit. */
export async function itemsOf({ client, table }: Connection, partition: string, range: Range): Promise<Item[]> {
  const { from, to, limit = Number.POSITIVE_INFINITY, only = [], index, newestFirst = false, filter = [] } = range;
  const conditions = new Conditions(filter);
  const names = { "#partition": index?.partition ?? "pk", "#sort": index?.sort ?? "sk", ...conditions.names };
  const input = {
    TableName: table,
    ...(index ? { IndexName: index.name, ScanIndexForward: !newestFirst } : { ConsistentRead: true }),
    KeyConditionExpression: "#partition = :partition AND #sort BETWEEN :from AND :to",
    ExpressionAttributeNames: { ...names, ...Object.fromEntries(only.map((name) => [`#${name}`, name])) },
    ExpressionAttributeValues: { ":partition": partition, ":from": from, ":to": to, ...conditions.values },
    ...(filter.length > 0 && { FilterExpression: conditions.text }),
    ...(only.length > 0 && { ProjectionExpression: only.map((name) => `#${name}`).join(", ") }),
    // `Limit` counts the items that are looked at, not those that pass the filter, so a filter needs larger pages
    ...(limit <= 1000 && { Limit: filter.length > 0 ? Math.max(limit, 500) : limit }),
  };
  const items: Item[] = [];
  for (let start: Item | undefined; items.length < limit && from <= to; ) {
    const page = await insist(() => client.query({ ...input, ...(start && { ExclusiveStartKey: start }) }));
    items.push(...(page.Items ?? []));
    if (!page.LastEvaluatedKey) break;
    start = page.LastEvaluatedKey;
  }
  return items.slice(0, limit);
}

/** Reads the present items with one sort key, by their partition. */
export async function batchGet({ client, table }: Connection, partitions: Iterable<string>, sk: string): Promise<Map<string, Item>> {
  const items = new Map<string, Item>();
  const keys = [...new Set(partitions)].map((pk): Item => ({ pk, sk }));
  await inBatches(keys, 100, async (left) => {
    const { Responses, UnprocessedKeys } = await client.batchGet({ RequestItems: { [table]: { Keys: left, ConsistentRead: true } } });
    for (const item of Responses?.[table] ?? []) items.set(String(item.pk), item);
    return UnprocessedKeys?.[table]?.Keys ?? [];
  });
  return items;
}

/** Puts items to which nothing refers yet, in any order. */
export function putItems(connection: Connection, items: readonly Item[]): Promise<void> {
  const actions = items.map((item) => ({ PutRequest: { Item: item } }));
  return batchWrite(connection, actions);
}

/** Deletes items of a partition to which nothing refers any more, in any order. */
export function deleteItems(connection: Connection, pk: string, sortKeys: readonly string[]): Promise<void> {
  const actions = sortKeys.map((sk) => ({ DeleteRequest: { Key: { pk, sk } } }));
  return batchWrite(connection, actions);
}

/** Makes writes in batches of 25, the limit of DynamoDB. 25 parts of long texts are about half of the 16 MB that a batch may have. */
function batchWrite({ client, table }: Connection, actions: readonly BatchAction[]): Promise<void> {
  return inBatches(actions, 25, async (left) => {
    const { UnprocessedItems: undone } = await client.batchWrite({ RequestItems: { [table]: left } });
    return undone?.[table] ?? [];
  });
}

/** Sends items in batches. Items that the service leaves unprocessed are sent again: a partition may accept only 1 MB a second. */
async function inBatches<T>(all: readonly T[], size: number, send: (some: T[]) => Promise<T[]>): Promise<void> {
  for (let at = 0; at < all.length; at += size) {
    let left = all.slice(at, at + size);
    for (let tries = 0; left.length > 0; tries++) {
      if (tries > maxTries)
        throw new StepfoldError("STORE_UNAVAILABLE", { store: "dynamo", reason: "the service left part of a batch unprocessed" });
      if (tries > 0) await pause(tries + 1);
      const undone = await insist(() => send(left));
      if (undone.length < left.length) tries = 0;
      left = undone;
    }
  }
}
