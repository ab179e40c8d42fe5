import type { Json } from "../../../core/values/json.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import type { ListCursor, ListedRow } from "../../kit/execution-table.ts";
import { labelsOf } from "../../kit/labels.ts";
import { isListed } from "../../kit/row-rules.ts";
import { bytesOf } from "../../kit/writing/value-limit.ts";
import type { Item } from "./dynamo-client.ts";
import { type Head, intactHeads } from "./dynamo-heads.ts";
import { nonEmpty, sortable } from "./dynamo-keys.ts";
import { type Connection, itemsOf, type Range } from "./dynamo-requests.ts";
import { readText } from "./long-text.ts";

/** Name of the index of all executions by time of creation. */
export const createdIndex = "created";

/** Executions, newest first. The index says which; everything shown, and what is asked for, is of the heads themselves. */
export async function listedRows(
  connection: Connection,
  query: CheckedQuery,
  labels: readonly string[],
  after: ListCursor | null,
  limit: number,
): Promise<ListedRow[]> {
  const range = rangeOf(query, labels, after, limit);
  const rows: ListedRow[] = [];
  if (query.status?.length === 0 || range.from > range.to) return rows;
  const entries = newestOf(connection.keys.listPartitions.map((listPartition) => itemsOf(connection, listPartition, range)));
  for (let isOver = false; rows.length < limit && !isOver; ) {
    const some: Item[] = [];
    while (some.length < limit - rows.length && !isOver) {
      const { value, done } = await entries.next();
      if (done) isOver = true;
      else some.push(value);
    }
    rows.push(...(await rowsOf(connection, query, labels, after, some)));
  }
  return rows;
}

/** Entries of all partitions of the index, newest first. */
async function* newestOf(partitions: readonly AsyncGenerator<Item>[]): AsyncGenerator<Item> {
  const next = await Promise.all(partitions.map((partition) => partition.next()));
  for (;;) {
    let newest = -1;
    for (const [index, { done, value }] of next.entries()) {
      if (!done && (newest < 0 || String(value.made) > String(next[newest]!.value.made))) newest = index;
    }
    if (newest < 0) return;
    yield next[newest]!.value;
    next[newest] = await partitions[newest]!.next();
  }
}

async function rowsOf(
  connection: Connection,
  query: CheckedQuery,
  labels: readonly string[],
  after: ListCursor | null,
  entries: readonly Item[],
): Promise<ListedRow[]> {
  const heads = await intactHeads(
    connection,
    entries.map(({ pk }) => String(pk)),
  );
  const rows = await Promise.all(
    entries.map(async ({ pk, made }): Promise<ListedRow | null> => {
      const head = heads.get(String(pk));
      // an id that was used again stands elsewhere in the list
      if (!head || head.made !== made || head.deletedAt !== null) return null;
      const metadata = await readText(connection, head, head.metadata);
      const row = metadata === null ? null : listedRow(head, metadata);
      return row && isListed({ ...head, ...row }, query, labels, after) ? row : null;
    }),
  );
  return rows.filter((row) => row !== null);
}

/** Null if it is damaged. */
function listedRow(head: Head, metadata: string): (ListedRow & { readonly definitionId: string; readonly labels: string[] }) | null {
  try {
    const { id: definitionId } = JSON.parse(head.definition) as { id: string };
    const labels = labelsOf(JSON.parse(metadata) as Record<string, Json>);
    const shown = { metadata, head: head.head.text ?? head.listed ?? "", createdAt: Number(head.made.split(".")[0]) };
    return { ...head, ...shown, definitionId, labels };
  } catch {
    return null;
  }
}

function rangeOf(
  { createdAfter, createdBefore, ...query }: CheckedQuery,
  labels: readonly string[],
  after: ListCursor | null,
  limit: number,
): Range {
  const from = createdAfter === undefined ? sortable(0) : `${sortable(Math.floor(createdAfter))}/`;
  const before = createdBefore === undefined ? "~" : sortable(Math.ceil(createdBefore));
  const last = after && `${sortable(after.createdAt)}.${sortable(after.seq)}`;
  const index = { name: createdIndex, partition: "listPartition", sort: "made", newestFirst: true };
  return { from, to: last !== null && last < before ? last : before, limit: limit + 1, index, filter: filterOf(query, labels) };
}

/** What the index can leave out. It may lag behind, and knows short values only: the heads are looked at too. */
function filterOf({ status, definitionId }: CheckedQuery, labels: readonly string[]): Range["filter"] {
  const names: Record<string, string> = {};
  const values: Record<string, string> = {};
  const conditions: string[] = [];
  if (status && status.length <= 50) {
    names["#status"] = "status";
    for (const [index, one] of status.entries()) values[`:status${index}`] = one || "none";
    conditions.push(`#status IN (${status.map((_, index) => `:status${index}`).join(", ")})`);
  }
  if (definitionId !== undefined && definitionId.length <= 1000) {
    names["#definitionId"] = "definitionId";
    values[":definitionId"] = nonEmpty(definitionId);
    conditions.push("#definitionId = :definitionId");
  }
  for (const [index, label] of labels.slice(0, 50).entries()) {
    names["#tags"] = "tags";
    const isIndexed = bytesOf(label) <= 1024;
    if (isIndexed) values[`:tag${index}`] = label;
    conditions.push(isIndexed ? `(attribute_not_exists(#tags) OR contains(#tags, :tag${index}))` : "attribute_not_exists(#tags)");
  }
  return conditions.length === 0 ? undefined : { text: conditions.join(" AND "), names, values };
}
