import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { BatchAction, Item, Key } from "./dynamo-client.ts";
import { type Connection, insist, pause } from "./dynamo-requests.ts";

/** Most actions in one batch; with parts of long texts they are half of the 16 MB that it may have. */
const mostActions = 25;

/** Writes items that nobody refers to yet, or deletes those that nobody refers to any more, in any order. */
async function batchWrite(connection: Connection, actions: readonly BatchAction[]): Promise<void> {
  for (let at = 0; at < actions.length; at += mostActions) await writeAll(connection, actions.slice(at, at + mostActions));
}

/** Puts them. */
export function putItems(connection: Connection, items: readonly Item[]): Promise<void> {
  return batchWrite(
    connection,
    items.map((item) => ({ PutRequest: { Item: item } })),
  );
}

/** Deletes what is there. */
export function deleteItems(connection: Connection, keys: readonly Key[]): Promise<void> {
  return batchWrite(
    connection,
    keys.map((key) => ({ DeleteRequest: { Key: { ...key } } })),
  );
}

/** What the service leaves undone in a batch is sent again: a partition takes 1 MB a second, once its reserve is used up. */
async function writeAll({ client, table }: Connection, actions: readonly BatchAction[]): Promise<void> {
  let left = [...actions];
  for (let tries = 0; left.length > 0; tries++) {
    if (tries === 12)
      throw new StepfoldError("STORE_UNAVAILABLE", { store: "dynamo", reason: "it left part of a batch undone, again and again" });
    if (tries > 0) await pause(tries + 2);
    const { UnprocessedItems: undone } = await insist(() => client.batchWrite({ RequestItems: { [table]: left } }));
    const rest = undone?.[table] ?? [];
    if (rest.length < left.length) tries = 0;
    left = rest;
  }
}
