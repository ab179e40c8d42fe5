import type { SeriesQuery } from "../../../ports/execution-counts.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import { firstDueKeys } from "../../kit/claims/due-keys.ts";
import { isExempt } from "../../kit/claims/exempt.ts";
import { isDue } from "../../kit/claims/guard.ts";
import type { ExecutionGuard, RowWrite, RowWritten, StoredEvent } from "../../kit/execution-rows.ts";
import type { DueExecutions, DueKey, DueKeys, DueQuery, ExecutionTable } from "../../kit/execution-table.ts";
import type * as lists from "../../kit/lists/list-table.ts";
import type { RecordTable } from "../../kit/record-table.ts";
import { byDueTime, earlierRuns, endedRows, exemptRows } from "../../kit/row-rules.ts";
import type { Item } from "./dynamo-client.ts";
import { type Head, headOf, intactHeads } from "./dynamo-heads.ts";
import { loadRows, readEvents } from "./dynamo-history.ts";
import {
  afterKey,
  type EndedList,
  firstSortKey,
  headKey,
  type IndexList,
  nonEmpty,
  readSortKey,
  sortableNumber,
  sortKeysUntil,
  timeKeysUntil,
} from "./dynamo-keys.ts";
import { countedRows, endedEntries, headRows, listedRows } from "./dynamo-list.ts";
import { dynamoRecords } from "./dynamo-records.ts";
import { batchGet, type Connection, itemsOf, type Range } from "./dynamo-requests.ts";
import { dueIndex, exemptIndex, runIndex } from "./dynamo-schema.ts";
import { writeRow } from "./dynamo-writes.ts";
import type { Test } from "./expression.ts";

/** The most heads of executions that need no permit that are read together, unless more are asked for: they fit into one request. */
const maxTogether = 100;

/** The number of index entries that one query for keys reads. */
const entriesTogether = 64;

/** Executions in a DynamoDB table. */
export class DynamoExecutions implements ExecutionTable, lists.ListTable {
  readonly lists: lists.ListTable = this;
  readonly name = "dynamo";
  readonly features: StoreFeatures;
  readonly records: RecordTable;
  readonly #connection: Connection;

  constructor(connection: Connection, maxValueBytes: number) {
    this.features = { clock: "caller", durable: true, multiProcess: true, maxValueBytes, permits: true };
    this.records = dynamoRecords(connection);
    this.#connection = connection;
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const { keys, now } = this.#connection;
    const partitions = ids.map((id) => keys.execution(id));
    const items = await batchGet(this.#connection, partitions, headKey);
    const heads = [...items.values()].map((item) => headOf(this.#connection, item));
    return { now: now(), found: new Map(heads.map((head) => [head.id, head])) };
  }

  async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    const found = await Promise.all(ids.map((id) => loadRows(this.#connection, id)));
    return new Map(found.flatMap((rows) => (rows ? [[rows.workflowId, rows]] : [])));
  }

  heads(ids: readonly string[]): Promise<readonly lists.ListedRow[]> {
    return headRows(this.#connection, ids);
  }

  write(writes: readonly RowWrite[]): Promise<(RowWritten | null)[]> {
    return Promise.all(writes.map((write) => writeRow(this.#connection, write)));
  }

  events(id: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]> {
    return readEvents(this.#connection, id, afterVersion, limit);
  }

  async due({ keys, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const asked = (keys ?? [null]).map((key) => this.#dueHeads(key, limit, overdueMs));
    const [heads, dueKeys] = await Promise.all([Promise.all(asked), keys ? [] : this.#keysAfter("", overdueMs)]);
    const areKeysDue = dueKeys.length === entriesTogether || dueKeys.some((key) => key.limit > 0);
    return { executions: heads.flat(), keyedDue: areKeysDue ? "exempt" : "none" };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    return firstDueKeys(await this.#keysAfter(after, overdueMs), entriesTogether, limit);
  }

  async exempt(limit: number, overdueMs: number): Promise<ExecutionGuard[]> {
    const [partition] = this.#connection.keys.listPartitions("exempt");
    const found = new Map<string, Head>();
    let after = firstSortKey;
    // those that are held do not use up the limit: each query reads twice as many entries as the one before
    for (let wanted = limit; ; wanted = Math.max(limit, Math.min(wanted * 2, maxTogether))) {
      const range = timeKeysUntil(Math.max(0, this.#connection.now() - overdueMs), after);
      const entries = await itemsOf(this.#connection, partition!, { ...range, limit: wanted, index: exemptIndex });
      // the index may be outdated, so the heads are checked
      const heads = await this.#heads(entries);
      const now = this.#connection.now();
      for (const head of heads) if (isExempt(head, now, overdueMs)) found.set(head.id, head);
      if (found.size >= limit || entries.length < wanted) return exemptRows(found.values(), limit, now, overdueMs);
      after = String(entries.at(-1)!.exemptSort);
    }
  }

  page(query: lists.PageQuery): Promise<lists.ListedPart> {
    return listedRows(this.#connection, query);
  }

  count(query: lists.PageQuery): Promise<lists.CountedRows | null> {
    return countedRows(this.#connection, query);
  }

  endedCounts(query: SeriesQuery): Promise<lists.EndedCounts> {
    return endedEntries(this.#connection, query);
  }

  async ended(query: lists.EndedQuery): Promise<ExecutionGuard[]> {
    const { before, limit, ended } = query;
    const definitionId = ended?.definitionId ?? null;
    const lists: readonly IndexList[] = ended ? [...new Set(ended.statuses as readonly EndedList[])] : ["deleted"];
    const partitions = lists.flatMap((list) => this.#connection.keys.listPartitions(list));
    const filter: Test[] = definitionId === null ? [] : [["definitionId", "=", nonEmpty(definitionId)]];
    const range = { from: firstSortKey, to: sortableNumber(Math.ceil(before)), limit, filter };
    const entries = (await Promise.all(partitions.map((one) => this.#entries(one, range)))).flat();
    const first = entries.sort((a, b) => (String(a.dueSort) < String(b.dueSort) ? -1 : 1)).slice(0, limit);
    // the index may be outdated, so the heads are checked
    return endedRows(await this.#heads(first), query);
  }

  async earlierRuns(query: lists.EarlierRunsQuery): Promise<lists.LaterRun[]> {
    const { before, limit, definitionId, id } = query;
    if (id !== null) return earlierRuns(await intactHeads(this.#connection, [this.#connection.keys.execution(id)]), query);
    const filter: Test[] = definitionId === null ? [] : [["definitionId", "=", nonEmpty(definitionId)]];
    const range = { from: firstSortKey, to: sortableNumber(Math.ceil(before)), limit, filter, index: runIndex };
    const partitions = this.#connection.keys.listPartitions("run");
    const entries = (await Promise.all(partitions.map((one) => itemsOf(this.#connection, one, range)))).flat();
    const first = entries.sort((a, b) => (String(a.runSort) < String(b.runSort) ? -1 : 1)).slice(0, limit);
    // the index may be outdated, so the heads are checked
    return earlierRuns(await this.#heads(first), query);
  }

  /** Reads the first entries after a key. A limit of 0 means that the execution is not due. */
  async #keysAfter(after: string, overdueMs: number): Promise<DueKey[]> {
    const from = after === "" ? firstSortKey : afterKey(after);
    const [partition] = this.#connection.keys.listPartitions("keyed");
    const entries = await this.#entries(partition!, { from, to: "\u{10ffff}", limit: entriesTogether });
    const now = this.#connection.now();
    return entries.map(({ dueSort, permitLimit }) => {
      const { key, dueAt, isAtOnce } = readSortKey(String(dueSort));
      const isKeyDue = (isAtOnce && overdueMs === 0) || dueAt <= now - overdueMs;
      return { key: key!, limit: isKeyDue ? Number(String(permitLimit)) : 0 };
    });
  }

  /** Reads the heads of due executions with a permit key, longest due first. Null: those without a permit. */
  async #dueHeads(key: string | null, limit: number, overdueMs: number): Promise<Head[]> {
    for (let wanted = limit; ; ) {
      const entries = await this.#dueEntries(key, wanted, overdueMs);
      const heads = await this.#heads(entries);
      const now = this.#connection.now();
      // the index may be outdated: only the heads say what is due, and more entries are read to replace those that are not
      const due = heads.filter((head) => isDue(head, now, overdueMs) && (head.permit?.key ?? null) === key);
      const next = limit + entries.length - due.length;
      if (due.length >= limit || entries.length < wanted || next <= wanted) return due.sort(byDueTime).slice(0, limit);
      wanted = next;
    }
  }

  /** Reads the index entries of the first executions that are due according to the index. */
  async #dueEntries(key: string | null, limit: number, overdueMs: number): Promise<Item[]> {
    const until = this.#connection.now() - overdueMs;
    const timed = { ...sortKeysUntil(key, false, until), limit };
    // executions that are due at once are due whatever the clock says
    const atOnce = { ...sortKeysUntil(key, true, overdueMs > 0 ? until : Number.POSITIVE_INFINITY), limit };
    const entriesOf = async (partition: string): Promise<Item[]> => {
      // entries with a time follow those due at once, so one query reads both, unless the limit is reached before
      const first = await this.#entries(partition, overdueMs > 0 ? atOnce : { ...atOnce, to: timed.to });
      return overdueMs > 0 || first.length === limit ? [...first, ...(await this.#entries(partition, timed))] : first;
    };
    const entries = (await Promise.all(this.#connection.keys.listPartitions(key === null ? "due" : "keyed").map(entriesOf))).flat();
    const byPartition = new Map(entries.map((entry) => [entry.pk, { entry, ...readSortKey(String(entry.dueSort)) }]));
    const longest = [...byPartition.values()].sort((a, b) => a.dueAt - b.dueAt || (a.made < b.made ? -1 : 1));
    return longest.slice(0, limit).map(({ entry }) => entry);
  }

  #entries(partition: string, range: Range): Promise<Item[]> {
    return itemsOf(this.#connection, partition, { ...range, index: dueIndex });
  }

  /** Reads the heads of entries, in any order. Damaged ones are left out. */
  async #heads(entries: readonly Item[]): Promise<Head[]> {
    if (entries.length === 0) return [];
    const partitions = entries.map(({ pk }) => String(pk));
    return intactHeads(this.#connection, partitions);
  }
}
