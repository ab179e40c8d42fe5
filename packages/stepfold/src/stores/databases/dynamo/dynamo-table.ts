import type { EpochMs } from "../../../core/values/json.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import { firstDueKeys } from "../../kit/claims/due-keys.ts";
import { isDue } from "../../kit/claims/guard.ts";
import type * as kit from "../../kit/execution-table.ts";
import type { RecordTable } from "../../kit/record-table.ts";
import { byDueTime } from "../../kit/row-rules.ts";
import type { Item } from "./dynamo-client.ts";
import { type Head, headOf, intactHeads } from "./dynamo-heads.ts";
import { loadRows, readEvents } from "./dynamo-history.ts";
import {
  afterKey,
  type EndedList,
  firstSortKey,
  headKey,
  nonEmpty,
  readSortKey,
  sortable,
  sortKeysAtOnce,
  sortKeysUntil,
} from "./dynamo-keys.ts";
import { listedRows } from "./dynamo-list.ts";
import { dynamoRecords } from "./dynamo-records.ts";
import { batchGet, type Connection, firstItems, type Range } from "./dynamo-requests.ts";
import { dueIndex } from "./dynamo-schema.ts";
import { DynamoWriter } from "./dynamo-writes.ts";

/** Entries of the index that are looked at in one go for keys. */
const entriesTogether = 64;

/** Executions in a DynamoDB table. */
export class DynamoExecutions implements kit.ExecutionTable {
  readonly name = "dynamo";
  readonly features: StoreFeatures;
  readonly records: RecordTable;
  readonly #connection: Connection;
  readonly #writer: DynamoWriter;

  constructor(connection: Connection, maxValueBytes: number, retentionMs: number) {
    this.features = { clock: "caller", durable: true, multiProcess: true, maxValueBytes, permits: true };
    this.records = dynamoRecords(connection);
    this.#connection = connection;
    this.#writer = new DynamoWriter(connection, retentionMs);
  }

  async now(): Promise<EpochMs> {
    return this.#connection.now();
  }

  async read(ids: readonly string[]): ReturnType<kit.ExecutionTable["read"]> {
    const { keys, now } = this.#connection;
    const wanted = [...new Set(ids)].map((id) => ({ pk: keys.execution(id), sk: headKey }));
    const heads = [...(await batchGet(this.#connection, wanted)).values()].map((item) => headOf(this.#connection, item)!);
    for (const head of heads) this.#writer.note(head);
    return { now: now(), found: new Map(heads.map((head) => [head.id, head])) };
  }

  async load(ids: readonly string[]): ReturnType<kit.ExecutionTable["load"]> {
    const found = await Promise.all(ids.map((id) => loadRows(this.#connection, id)));
    return new Map(found.flatMap((rows) => (rows ? [[rows.workflowId, rows]] : [])));
  }

  write(writes: readonly kit.RowWrite[]): Promise<(kit.RowWritten | null)[]> {
    return Promise.all(writes.map((write) => this.#writer.write(write)));
  }

  events(id: string, afterVersion: number, limit: number): Promise<kit.StoredEvent[]> {
    return readEvents(this.#connection, id, afterVersion, limit);
  }

  async due({ keys, ...query }: kit.DueQuery): Promise<kit.DueExecutions> {
    const asked = (keys ?? [null]).map((key) => this.#dueHeads({ ...query, key }));
    const [executions, keyed] = await Promise.all([Promise.all(asked), keys === null ? this.#keyedEntries("") : []]);
    const now = this.#connection.now();
    const areKeysDue = keyed.length === entriesTogether || keyed.some((entry) => isDueEntry(entry, now, query.overdueMs));
    return { executions: executions.flat(), areKeysDue };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<kit.DueKeys> {
    const entries = await this.#keyedEntries(after);
    const now = this.#connection.now();
    const rows = entries.map((entry) => ({ key: entry.key!, limit: isDueEntry(entry, now, overdueMs) ? entry.limit : 0 }));
    return firstDueKeys(rows, entriesTogether, limit);
  }

  page(query: CheckedQuery, labels: readonly string[], after: kit.ListCursor | null, limit: number): Promise<kit.ListedRow[]> {
    return listedRows(this.#connection, query, labels, after, limit);
  }

  async ended({ before, limit, ended }: kit.EndedQuery): Promise<kit.ExecutionGuard[]> {
    const { keys } = this.#connection;
    const dueLists = ended
      ? [...new Set(ended.statuses)].flatMap((status) => keys.dueLists(status as EndedList))
      : keys.dueLists("deleted");
    const range: Range = { from: firstSortKey, to: sortable(Math.ceil(before)), filter: ofDefinition(ended?.definitionId ?? null) };
    const found = await Promise.all(dueLists.map((dueList) => this.#entries(dueList, { ...range, limit })));
    const first = found.flat().sort((a, b) => (String(a.dueSort) < String(b.dueSort) ? -1 : 1));
    const heads = await this.#heads(first.slice(0, limit).map(({ pk }) => String(pk)));
    // the index may lag
    return heads.filter((head) =>
      ended ? ended.statuses.includes(head.status) && isBefore(head.endedAt, before) : isBefore(head.deletedAt, before),
    );
  }

  async close(): Promise<void> {}

  /** The first entries behind a key. */
  async #keyedEntries(after: string): Promise<(DueEntry & { readonly limit: number })[]> {
    const [dueList] = this.#connection.keys.dueLists("keyed") as [string];
    const range = { from: after === "" ? firstSortKey : afterKey(after), to: "\u{10ffff}", limit: entriesTogether };
    const entries = await this.#entries(dueList, range);
    return entries.map(({ dueSort, permitLimit }) => ({ ...readSortKey(String(dueSort)), limit: Number(String(permitLimit)) }));
  }

  /** Heads of what is due, longest due first. */
  async #dueHeads(query: DueOfKey): Promise<Head[]> {
    const { key, limit, overdueMs } = query;
    // the index may lag: the heads themselves say what is due
    for (let stale = 0; ; ) {
      const wanted = limit + stale;
      const partitions = await this.#dueEntries({ ...query, limit: wanted });
      const heads = await this.#heads(partitions);
      const now = this.#connection.now();
      const due = heads.filter((head) => isDue(head, now, overdueMs) && (head.permit?.key ?? null) === key);
      if (due.length >= limit || partitions.length < wanted || partitions.length - due.length <= stale) {
        return due.sort(byDueTime).slice(0, limit);
      }
      stale = partitions.length - due.length;
    }
  }

  /** Partitions of the first executions that are due according to the index, longest due first. */
  async #dueEntries({ key, limit, overdueMs }: DueOfKey): Promise<string[]> {
    const { keys, now } = this.#connection;
    const until = now() - overdueMs;
    const atOnce = sortKeysAtOnce(key, overdueMs > 0 ? until : null);
    const timed = { ...sortKeysUntil(key, until), limit };
    const entriesOf = async (dueList: string): Promise<Item[]> => {
      // both kinds in one question, if there are not too many of the first one
      const isOne = overdueMs === 0 && atOnce.to <= timed.to;
      const entries = await this.#entries(dueList, { from: atOnce.from, to: isOne ? timed.to : atOnce.to, limit });
      return isOne && entries.length < limit ? entries : [...entries, ...(await this.#entries(dueList, timed))];
    };
    const found = (await Promise.all(keys.dueLists(key === null ? "due" : "keyed").map(entriesOf))).flat();
    const dueSorts = new Map(found.map(({ pk, dueSort }) => [String(pk), readSortKey(String(dueSort))]));
    const first = [...dueSorts].sort(([, a], [, b]) => a.dueAt - b.dueAt || (a.made < b.made ? -1 : 1));
    return first.slice(0, limit).map(([pk]) => pk);
  }

  #entries(dueList: string, range: Range & { readonly limit: number }): Promise<Item[]> {
    return firstItems(this.#connection, dueList, { ...range, index: dueIndex });
  }

  /** In the order of their partitions. What is damaged is left out. */
  async #heads(partitions: readonly string[]): Promise<Head[]> {
    if (partitions.length === 0) return [];
    const heads = await intactHeads(this.#connection, partitions);
    return partitions.flatMap((pk) => {
      const head = heads.get(pk);
      if (head) this.#writer.note(head);
      return head ?? [];
    });
  }
}

/** Null: what has no permit. */
type DueOfKey = Omit<kit.DueQuery, "keys"> & { readonly key: string | null };

type DueEntry = ReturnType<typeof readSortKey>;

function isDueEntry({ dueAt, isAtOnce }: DueEntry, now: EpochMs, overdueMs: number): boolean {
  return (isAtOnce && overdueMs === 0) || dueAt <= now - overdueMs;
}

function isBefore(time: EpochMs | null, before: EpochMs): boolean {
  return time !== null && time < before;
}

function ofDefinition(definitionId: string | null): Range["filter"] {
  if (definitionId === null) return undefined;
  return {
    text: "#definitionId = :definitionId",
    names: { "#definitionId": "definitionId" },
    values: { ":definitionId": nonEmpty(definitionId) },
  };
}
