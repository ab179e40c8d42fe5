import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionSummary, ListQuery, Page } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import { executionPage, type ListCursor, type ListedRow } from "../../kit/list.ts";
import { batchGet } from "./batch-get.ts";
import type { Item } from "./dynamo-client.ts";
import { type Head, intactHead } from "./dynamo-heads.ts";
import { headKey, sortable, storedText } from "./dynamo-keys.ts";
import { type Connection, insist } from "./dynamo-requests.ts";
import { readText } from "./long-text.ts";
import { tagOf } from "./tags.ts";

/** Name of the index of all executions by time of creation. */
export const catalogueIndex = "catalogue";

/** Where a search goes on in one partition of the index; null at its end. */
interface Cursor {
  readonly shelf: string;
  start: Item | undefined;
  isOver: boolean;
  found: Entry[];
}

interface Entry {
  readonly pk: string;
  readonly made: string;
}

/** A page of executions, newest first. The index says which; everything shown, and what is asked for, is of the heads themselves. */
export function listExecutions(connection: Connection, query: CheckedQuery): Promise<Page<ExecutionSummary>> {
  return executionPage(query.limit, query.cursor, async (after, limit) => {
    if (query.status?.length === 0) return [];
    const rows: ListedRow[] = [];
    const next = search(connection, query, after);
    while (rows.length < limit) {
      const entries = await next(limit - rows.length);
      if (entries.length === 0) break;
      rows.push(...(await rowsAt(connection, query, entries)));
    }
    return rows;
  });
}

/** Gives entries in order, from all partitions of the index; none once there are no more. */
function search(connection: Connection, query: CheckedQuery, after: ListCursor | null): (limit: number) => Promise<Entry[]> {
  const { keys } = connection;
  const cursors = Array.from({ length: keys.shards }, (_, shard): Cursor => {
    return { shelf: keys.shelf(shard), start: undefined, isOver: false, found: [] };
  });
  const range = rangeOf(query, after);
  return async (limit) => {
    if (range.low > range.high) return [];
    const entries: Entry[] = [];
    while (entries.length < limit) {
      await Promise.all(cursors.map((cursor) => (cursor.found.length === 0 ? fill(connection, query, cursor, range, limit) : undefined)));
      const newest = cursors.reduce((best, one) => (isNewer(one.found[0], best.found[0]) ? one : best));
      const entry = newest.found.shift();
      if (!entry) break;
      entries.push(entry);
    }
    return entries;
  };
}

function isNewer(one: Entry | undefined, other: Entry | undefined): boolean {
  return one !== undefined && (other === undefined || one.made > other.made);
}

/** Reads on in a partition until something is found. */
async function fill(connection: Connection, query: CheckedQuery, cursor: Cursor, range: Range, limit: number): Promise<void> {
  const { client, table } = connection;
  const { names, values, filter } = filterOf(query);
  while (cursor.found.length === 0 && !cursor.isOver) {
    const { start } = cursor;
    const { Items: items = [], LastEvaluatedKey: last } = await insist(() =>
      client.query({
        TableName: table,
        IndexName: catalogueIndex,
        KeyConditionExpression: "#shelf = :shelf AND #made BETWEEN :low AND :high",
        ...(filter !== "" && { FilterExpression: filter }),
        ExpressionAttributeNames: { "#shelf": "shelf", "#made": "made", ...names },
        ExpressionAttributeValues: { ":shelf": cursor.shelf, ":low": range.low, ":high": range.high, ...values },
        ScanIndexForward: false,
        Limit: filter === "" ? limit + 1 : Math.max(limit + 1, 500),
        ...(start && { ExclusiveStartKey: start }),
      }),
    );
    const entries = items.map(({ pk, made }) => ({ pk: String(pk), made: String(made) }));
    // the place after which the page begins
    cursor.found = entries.filter(({ made }) => made !== range.without);
    cursor.start = last;
    cursor.isOver = !last;
  }
}

interface Range {
  readonly low: string;
  readonly high: string;
  readonly without: string | null;
}

function rangeOf({ createdAfter, createdBefore }: ListQuery, after: ListCursor | null): Range {
  const low = createdAfter === undefined ? sortable(0) : `${sortable(Math.floor(createdAfter))}/`;
  const before = createdBefore === undefined ? "~" : sortable(Math.ceil(createdBefore));
  const without = after && `${sortable(after.createdAt)}.${sortable(after.seq)}`;
  return { low, high: without !== null && without < before ? without : before, without };
}

/** What the index can leave out. It may lag behind, and knows short values only: the heads are looked at too. */
function filterOf({ status, definitionId, metadata }: ListQuery): {
  names: Record<string, string>;
  values: Record<string, string>;
  filter: string;
} {
  const names: Record<string, string> = {};
  const values: Record<string, string> = {};
  const conditions: string[] = [];
  if (status && status.length <= 50) {
    names["#status"] = "status";
    const among = status.map((one, index) => {
      values[`:status${index}`] = one || "none";
      return `:status${index}`;
    });
    conditions.push(`#status IN (${among.join(", ")})`);
  }
  if (definitionId !== undefined && definitionId.length <= 1000) {
    names["#definitionId"] = "definitionId";
    values[":definitionId"] = storedText(definitionId);
    conditions.push("#definitionId = :definitionId");
  }
  for (const [index, [key, value]] of Object.entries(metadata ?? {})
    .slice(0, 50)
    .entries()) {
    names["#tags"] = "tags";
    const tag = tagOf(key, value);
    if (tag !== null) values[`:tag${index}`] = tag;
    conditions.push(tag === null ? "attribute_not_exists(#tags)" : `(attribute_not_exists(#tags) OR contains(#tags, :tag${index}))`);
  }
  return { names, values, filter: conditions.join(" AND ") };
}

async function rowsAt(connection: Connection, query: ListQuery, entries: readonly Entry[]): Promise<ListedRow[]> {
  const items = await batchGet(
    connection,
    entries.map(({ pk }) => ({ pk, sk: headKey })),
  );
  const rows = await Promise.all(entries.map(({ pk, made }) => rowOf(connection, query, items.get(pk), made)));
  return rows.filter((row) => row !== null);
}

/** Null for one that is gone, damaged, or not what was asked for. */
async function rowOf(connection: Connection, query: ListQuery, item: Item | undefined, made: string): Promise<ListedRow | null> {
  const head = item === undefined ? null : intactHead(connection, item);
  // an id that was used again stands elsewhere in the list
  if (!head || head.made !== made) return null;
  const metadata = await readText(connection, head, head.metadata);
  if (metadata === null || !isWanted(query, head, metadata)) return null;
  const { workflowId: id, definition, version, status, updatedAt, wakeAt, owner, leaseUntil, crashes } = head;
  const [createdAt, seq] = made.split(".").map(Number) as [EpochMs, number];
  const shown = { version, status, head: head.head.text ?? head.listed ?? "", updatedAt, wakeAt, owner, leaseUntil, crashes };
  return { createdAt, seq, id, definition, metadata, ...shown };
}

function isWanted({ status, definitionId, metadata }: ListQuery, head: Head, text: string): boolean {
  if (status && !status.includes(head.status)) return false;
  try {
    if (definitionId !== undefined && (JSON.parse(head.definition) as { id: string }).id !== definitionId) return false;
    if (!metadata) return true;
    const own = JSON.parse(text) as Record<string, unknown>;
    return Object.entries(metadata).every(([key, value]) => Object.hasOwn(own, key) && own[key] === value);
  } catch {
    return false;
  }
}
