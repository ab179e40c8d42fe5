import type { Json } from "../../../core/values/json.ts";
import type { CheckedQuery } from "../../kit/checked-query.ts";
import type { ListCursor, ListedRow } from "../../kit/execution-table.ts";
import { labelsOf } from "../../kit/labels.ts";
import { byNewest, isListed } from "../../kit/row-rules.ts";
import { bytesOf } from "../../kit/writing/value-limit.ts";
import { cursorOf, type Head, intactHeads } from "./dynamo-heads.ts";
import { liveHeads } from "./dynamo-history.ts";
import { nonEmpty, sortable } from "./dynamo-keys.ts";
import { type Connection, itemsOf, type Range } from "./dynamo-requests.ts";
import { createdIndex } from "./dynamo-schema.ts";
import type { Test } from "./expression.ts";
import { readText } from "./long-text.ts";

/** Executions, newest first. The index says which; everything shown, and what is asked for, is of the heads themselves. */
export async function listedRows(
  connection: Connection,
  query: CheckedQuery,
  labels: readonly string[],
  after: ListCursor | null,
  limit: number,
): Promise<ListedRow[]> {
  const rows: ListedRow[] = [];
  if (query.status?.length === 0) return rows;
  const partitions = connection.keys.listPartitions("list");
  for (let cursor = after; rows.length < limit; ) {
    const wanted = limit - rows.length;
    const range = rangeOf(query, labels, cursor, wanted);
    const some = await Promise.all(partitions.map((partition) => itemsOf(connection, partition, range)));
    const entries = some.flat().map(({ pk, made }) => ({ pk: String(pk), ...cursorOf(String(made)) }));
    const newest = entries.filter((entry) => !cursor || byNewest(cursor, entry) < 0).sort(byNewest);
    const listed = newest.slice(0, wanted).map(({ pk }) => pk);
    const heads = await intactHeads(connection, listed);
    const found = (await Promise.all(heads.map((head) => listedRow(connection, head)))).filter((row) => row !== null);
    rows.push(...found.filter((row) => isListed(row, query, labels, cursor)).sort(byNewest));
    // the index may lag, and does not know long labels: others come in the place of what is not asked for
    if (newest.length < wanted) break;
    cursor = newest[wanted - 1]!;
  }
  return rows;
}

/** Executions as a list shows them, with the whole head. One that is written at this moment is read again. */
export async function headRows(connection: Connection, ids: readonly string[]): Promise<ListedRow[]> {
  const rows: ListedRow[] = [];
  for (const id of ids) {
    for await (const head of liveHeads(connection, id)) {
      const row = head && (await listedRow(connection, head));
      const text = row && (await readText(connection, head, head.head));
      if (head && text === null) continue;
      if (row) rows.push({ ...row, head: text! });
      break;
    }
  }
  return rows;
}

/** Null if its metadata are just being replaced. */
async function listedRow(connection: Connection, head: Head): Promise<(ListedRow & Head & { readonly labels: readonly string[] }) | null> {
  const metadata = await readText(connection, head, head.metadata);
  return metadata === null ? null : { ...head, metadata, head: head.listed, labels: labelsIn(metadata) };
}

/** None if the text is damaged. */
function labelsIn(metadata: string): readonly string[] {
  try {
    return labelsOf(JSON.parse(metadata) as Record<string, Json>);
  } catch {
    return [];
  }
}

function rangeOf(query: CheckedQuery, labels: readonly string[], after: ListCursor | null, limit: number): Range {
  const { createdAfter, createdBefore } = query;
  const from = createdAfter === undefined ? sortable(0) : `${sortable(Math.floor(createdAfter))}/`;
  const before = createdBefore === undefined ? "~" : sortable(Math.ceil(createdBefore));
  const last = after ? `${sortable(after.createdAt)}.${sortable(after.seq)}` : "~";
  // the last one is found again
  return {
    from,
    to: last < before ? last : before,
    limit: limit + 1,
    index: createdIndex,
    newestFirst: true,
    filter: filterOf(query, labels),
  };
}

/** What the index can leave out. It may lag behind, and knows short values only: the heads are looked at too. */
function filterOf({ status, definitionId }: CheckedQuery, labels: readonly string[]): Test[] {
  const noTags: Test = ["tags", "absent"];
  const tests = labels
    .slice(0, 50)
    .map((label): Test => (bytesOf(label) <= 1024 ? { either: [noTags, ["tags", "contains", label]] } : noTags));
  if (status && status.length <= 50) tests.push(["status", "in", status.map((one) => one || "none")]);
  if (definitionId !== undefined && definitionId.length <= 1000) tests.push(["definitionId", "=", nonEmpty(definitionId)]);
  return tests;
}
