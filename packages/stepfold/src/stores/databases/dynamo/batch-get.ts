import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Item, Key } from "./dynamo-client.ts";
import { type Connection, insist, pause } from "./dynamo-requests.ts";

/** Items by partition, as they are now; one of each partition at most. */
export async function batchGet(connection: Connection, keys: readonly Key[]): Promise<ReadonlyMap<string, Item>> {
  const items = new Map<string, Item>();
  for (let at = 0; at < keys.length; at += 100) await getSome(connection, keys.slice(at, at + 100), items);
  return items;
}

/** What the service leaves out of an answer is asked for again. */
async function getSome({ client, table }: Connection, keys: readonly Key[], items: Map<string, Item>): Promise<void> {
  let left: Item[] = keys.map((key) => ({ ...key }));
  for (let tries = 0; left.length > 0; tries++) {
    if (tries === 12)
      throw new StepfoldError("STORE_UNAVAILABLE", { store: "dynamo", reason: "it left part of a batch undone, again and again" });
    if (tries > 0) await pause(tries);
    const { Responses: found, UnprocessedKeys: undone } = await insist(() =>
      client.batchGet({ RequestItems: { [table]: { Keys: left, ConsistentRead: true } } }),
    );
    for (const item of found?.[table] ?? []) items.set(String(item.pk), item);
    left = undone?.[table]?.Keys ?? [];
    // an answer of 16 MB is full, not congested
    if (found?.[table]?.length) tries = 0;
  }
}
