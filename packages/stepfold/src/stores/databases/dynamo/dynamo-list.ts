import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { SeriesQuery } from "../../../ports/execution-counts.ts";
import type { CountedRows, EndedCounts, ListedPart, ListedRow, PageQuery } from "../../kit/lists/list-table.ts";
import { endedCountOf, listOrder } from "../../kit/row-rules.ts";
import type { Item } from "./dynamo-client.ts";
import { cursorOf, type Head, intactHeads } from "./dynamo-heads.ts";
import { liveHeads } from "./dynamo-history.ts";
import { type IndexList, nonEmpty, readSortKey, sortableNumber } from "./dynamo-keys.ts";
import { type Connection, itemsOf, type Range } from "./dynamo-requests.ts";
import { createdIndex, dueIndex } from "./dynamo-schema.ts";
import type { Test } from "./expression.ts";
import { readText } from "./long-text.ts";

/** About how many index entries are read for one count. */
const maxLooked = 20_000;

/** Reads a part of a list. The index finds candidates; the returned rows come from the heads, because the index may be outdated. */
export async function listedRows(connection: Connection, query: PageQuery): Promise<ListedPart> {
  const { after, limit } = query;
  const inOrder = listOrder(query.order);
  const range = { ...rangeOf(query), limit: limit + 1, filter: filterOf(query) };
  const partitions = connection.keys.listPartitions("list");
  const some = await Promise.all(partitions.map((partition) => itemsOf(connection, partition, range)));
  const entries = some.flat().map(({ pk, made }) => ({ pk: String(pk), made: String(made), ...cursorOf(String(made)) }));
  const listed = entries.filter((entry) => !after || inOrder(after, entry) < 0).sort(inOrder);
  const first = new Map(listed.slice(0, limit).map((entry) => [entry.pk, entry.made]));
  const heads = await intactHeads(connection, [...first.keys()]);
  // the index may be outdated: if an id was used again, the index may still have the earlier execution
  const live = heads.filter(({ pk, made, deletedAt }) => deletedAt === null && first.get(pk) === made);
  const rows = (await Promise.all(live.map((head) => listedRow(connection, head)))).filter((row) => row !== null);
  return { rows: rows.sort(inOrder), next: listed.length < limit ? null : listed[limit - 1]! };
}

/** Counts entries of the index. Null for a query with labels, because the index holds only short label texts. */
export async function countedRows(connection: Connection, query: PageQuery): Promise<CountedRows | null> {
  const { status, definitionId, idPrefix = "", labels } = query;
  if (labels.length > 0) return null;
  const [entries, complete] = await entriesToCount(connection, ["list"], rangeOf(query));
  const counts = new Map<Status, number>();
  for (const { pk, status: own, definitionId: workflow } of entries) {
    if (status && !status.includes(own as Status)) continue;
    if (definitionId !== undefined && workflow !== nonEmpty(definitionId)) continue;
    if (!connection.keys.workflowIdOf(String(pk)).startsWith(idPrefix)) continue;
    counts.set(own as Status, Math.min(query.limit, (counts.get(own as Status) ?? 0) + 1));
  }
  return { counts, complete, looked: entries.length };
}

/** Counts ended executions by their index entries, which contain the time of the end and the time of creation. */
export async function endedEntries(connection: Connection, query: SeriesQuery): Promise<EndedCounts> {
  const range = { from: sortableNumber(query.from), to: sortableNumber(query.to), index: dueIndex };
  const [entries, complete] = await entriesToCount(connection, ["completed", "failed", "cancelled"], range);
  const wanted = entries.filter((entry) => query.definitionId === undefined || entry.definitionId === nonEmpty(query.definitionId));
  const counts = wanted.map(({ dueSort, dueList }) => {
    const { dueAt: updatedAt, made } = readSortKey(String(dueSort));
    const status = connection.keys.listOf(String(dueList)) as Status;
    return endedCountOf({ status, updatedAt, createdAt: cursorOf(made).createdAt }, query);
  });
  return { counts, complete, looked: entries.length };
}

/** Reads entries of lists, about `maxLooked` at most. Also returns whether these are all entries. */
async function entriesToCount(connection: Connection, lists: readonly IndexList[], range: Range): Promise<readonly [Item[], boolean]> {
  const partitions = lists.flatMap((list) => connection.keys.listPartitions(list));
  const limit = Math.ceil(maxLooked / partitions.length);
  const found = await Promise.all(partitions.map((partition) => itemsOf(connection, partition, { ...range, limit })));
  return [found.flat(), found.every((some) => some.length < limit)];
}

/**
 * Reads executions as a list shows them, with the whole head. Of several executions, damaged ones are left out.
 *
 * @throws StepfoldError `STORE_REJECTED` if the only execution is damaged
 */
export async function headRows(connection: Connection, ids: readonly string[]): Promise<ListedRow[]> {
  if (ids.length === 1) return headRow(connection, ids[0]!);
  const rows: ListedRow[] = [];
  for (const id of ids) {
    const found = await headRow(connection, id).catch((cause: unknown): ListedRow[] => {
      if (StepfoldError.is(cause, "STORE_REJECTED")) return [];
      throw cause;
    });
    rows.push(...found);
  }
  return rows;
}

/** Reads one execution. An execution that is being written at this moment is read again. */
async function headRow(connection: Connection, id: string): Promise<ListedRow[]> {
  for await (const head of liveHeads(connection, id)) {
    const row = head && (await listedRow(connection, head));
    const text = row && (await readText(connection, head, head.head));
    if (head && text === null) continue;
    return row ? [{ ...row, head: text! }] : [];
  }
  return [];
}

/** Makes a listed row of a head. Null if the metadata are just being replaced. */
async function listedRow(connection: Connection, head: Head): Promise<(ListedRow & Head) | null> {
  const metadata = await readText(connection, head, head.metadata);
  return metadata === null ? null : { ...head, metadata, head: head.listed };
}

function rangeOf({ createdAfter, createdBefore, after, order }: PageQuery): Range {
  const first = createdAfter === undefined ? sortableNumber(0) : `${sortableNumber(Math.floor(createdAfter))}/`;
  const end = createdBefore === undefined ? "~" : sortableNumber(Math.ceil(createdBefore));
  const isNewest = order === "newest";
  // the range includes the last execution of the page before; the caller drops it
  const [last] = after ? [`${sortableNumber(after.createdAt)}.${sortableNumber(after.seq)}`] : [];
  const [from] = [first, ...(last && !isNewest ? [last] : [])].sort().reverse();
  const [to] = [end, ...(last && isNewest ? [last] : [])].sort();
  return { from: from!, to: to!, index: createdIndex, newestFirst: isNewest };
}

/**
 * The filter for the index. It only reduces the candidates: the index may be outdated and has only short values, so the kit checks the rows
 * that come from the heads again.
 */
function filterOf({ status, definitionId, labels }: PageQuery): Test[] {
  const noTags: Test = ["tags", "absent"];
  const tests = labels.slice(0, 50).map((label): Test => ({ either: [noTags, ["tags", "contains", label]] }));
  if (status) tests.push(["status", "in", status.slice(0, 50)]);
  if (definitionId !== undefined && definitionId.length <= 1000) tests.push(["definitionId", "=", nonEmpty(definitionId)]);
  return tests;
}
