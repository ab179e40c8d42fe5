import type { EpochMs } from "../../../core/values/json.ts";
import type { Rota } from "../../record/share-room.ts";
import { type Turnstile, turnstile } from "../../record/turnstile.ts";
import type { DynamoDocumentClient, Item, Key, TransactAction, UpdateAction } from "./dynamo-client.ts";
import { failedCondition, isCongestion } from "./dynamo-error.ts";
import { type Keys, noTurn, sortable } from "./dynamo-keys.ts";
import { type Change, updateOf } from "./expression.ts";

/** What every operation of a store works with. */
export interface Connection {
  readonly client: DynamoDocumentClient;
  readonly table: string;
  readonly keys: Keys;
  readonly retentionMs: number;
  /** The caller's clock: DynamoDB has none. */
  now(): EpochMs;
  /** Place of a new execution in order of creation: time, count within the millisecond, and chance where two processes meet. */
  stamp(now: EpochMs): string;
  /** The stamp of executions that this handle has met lately, by partition and incarnation. */
  readonly stamps: Map<string, string>;
  /** Keys of executions with a permit that this handle has met lately, by partition and incarnation. */
  readonly lines: Map<string, string>;
  /** For claims of one key, and of all. */
  readonly turnstile: Turnstile;
  /** What is known of all lines. */
  readonly walk: Walk;
  /** Heads in parts that this handle has met lately: whoever replaces one deletes its parts. */
  readonly longHeads: Map<string, { readonly version: number; readonly parts: string }>;
}

/** Where those that take turns are looked for. */
interface Walk extends Rota {
  /** Whether there ever was an execution with a permit; where that is not known, when it was asked last. */
  isUsed: boolean;
  askedAt: EpochMs | null;
  /** Where the last claim stopped, so that each key has its chance. */
  shard: number;
  from: string;
}

/** Notes something of a few of many. */
export function remember<T>(notes: Map<string, T>, key: string, note: T): void {
  notes.set(key, note);
  if (notes.size > 10_000) notes.delete(notes.keys().next().value!);
}

/** What became of a conditional write: its answer, or what lay there if the condition did not hold. */
export type Written<T> = { readonly value: T } | { readonly stored: unknown };

/** A connection over a client. */
export function connect(
  client: DynamoDocumentClient,
  { table, keys, now, retentionMs }: Pick<Connection, "table" | "keys" | "now" | "retentionMs">,
): Connection {
  let latest = -1;
  let count = 0;
  const walk: Walk = { isOwed: false, isUsed: false, askedAt: null, shard: 0, from: noTurn };
  const stamp = (at: EpochMs): string => {
    count = at === latest ? count + 1 : 0;
    latest = at;
    return `${sortable(at)}.${sortable(count * 2 ** 32 + Math.floor(Math.random() * 2 ** 32))}`;
  };
  return {
    client,
    table,
    keys,
    retentionMs,
    now,
    stamp,
    stamps: new Map(),
    lines: new Map(),
    turnstile: turnstile(),
    walk,
    longHeads: new Map(),
  };
}

/** Waits a little, longer each time and never the same. */
export function pause(tries: number): Promise<void> {
  const delayMs = Math.random() * Math.min(5 * 2 ** tries, 400);
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

/** Makes a call again while it meets other writers, for about two seconds. To be used for what may happen twice. */
export async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (cause) {
      if (tries === 12 || !isCongestion(cause)) throw cause;
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

/** Items of one partition, page by page, as they are now. */
export async function* itemsOf(
  { client, table }: Connection,
  pk: string,
  range: { readonly from: string; readonly to: string; readonly limit?: number; readonly only?: readonly string[] },
): AsyncGenerator<Item> {
  const { from, to, limit, only } = range;
  const names = Object.fromEntries(["pk", "sk", ...(only ?? [])].map((name) => [`#${name}`, name]));
  for (let start: Item | undefined; ; ) {
    const { Items: items = [], LastEvaluatedKey: last } = await insist(() =>
      client.query({
        TableName: table,
        ConsistentRead: true,
        KeyConditionExpression: "#pk = :pk AND #sk BETWEEN :from AND :to",
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: { ":pk": pk, ":from": from, ":to": to },
        ...(only && { ProjectionExpression: only.map((name) => `#${name}`).join(", ") }),
        ...(limit !== undefined && { Limit: limit }),
        ...(start && { ExclusiveStartKey: start }),
      }),
    );
    yield* items;
    if (!last) return;
    start = last;
  }
}
