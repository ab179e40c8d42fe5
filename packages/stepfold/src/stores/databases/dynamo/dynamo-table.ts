import type { EpochMs } from "../../../core/values/json.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import { isDue } from "../../kit/claims/guard.ts";
import type {
  DueExecutions,
  DueKeys,
  DueQuery,
  EndedQuery,
  ExecutionGuard,
  ExecutionTable,
  RowWrite,
  RowWritten,
  StoredEvent,
} from "../../kit/execution-table.ts";
import type { ListCursor, ListedRow } from "../../kit/list.ts";
import type { RecordTable } from "../../kit/record-table.ts";
import { byDueTime } from "../../kit/row-rules.ts";
import type { Item } from "./dynamo-client.ts";
import { type Head, headOf, intactHeads } from "./dynamo-heads.ts";
import { loadRows, readEvents } from "./dynamo-history.ts";
import { afterKey, type EndedLane, headKey, noTurn, readTurn, sortable, storedText, turnsAtOnce, turnsUntil } from "./dynamo-keys.ts";
import { listedRows } from "./dynamo-list.ts";
import { dynamoRecords } from "./dynamo-records.ts";
import { batchGet, type Connection, firstItems, type Range } from "./dynamo-requests.ts";
import { dueIndex } from "./dynamo-schema.ts";
import { DynamoWriter } from "./dynamo-writes.ts";

/** Entries of the index that are looked at in one go for keys. */
const entriesTogether = 64;

/** Executions in a DynamoDB table. */
export class DynamoTable implements ExecutionTable {
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

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const { keys, now } = this.#connection;
    const wanted = [...new Set(ids)].map((id) => ({ pk: keys.execution(id), sk: headKey }));
    const heads = [...(await batchGet(this.#connection, wanted)).values()].map((item) => headOf(this.#connection, item)!);
    for (const head of heads) this.#writer.note(head);
    return { now: now(), found: new Map(heads.map((head) => [head.id, head])) };
  }

  async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    const found = await Promise.all(ids.map((id) => loadRows(this.#connection, id)));
    return new Map(found.flatMap((rows) => (rows ? [[rows.workflowId, rows]] : [])));
  }

  write(writes: readonly RowWrite[]): Promise<(RowWritten | null)[]> {
    return Promise.all(writes.map((write) => this.#writer.write(write)));
  }

  events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    return readEvents(this.#connection, id, afterVersion, limit);
  }

  async due(query: DueQuery): Promise<DueExecutions> {
    const [executions, keyed] = await Promise.all([this.#dueHeads(query), query.key === null ? this.#keyedEntries("") : []]);
    const now = this.#connection.now();
    const areKeysDue = keyed.length === entriesTogether || keyed.some((entry) => isDueEntry(entry, now, query.overdueMs));
    return { executions, areKeysDue };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const entries = await this.#keyedEntries(after);
    const now = this.#connection.now();
    // the first of a key is due longest
    const first = entries.filter(({ key }, index) => key !== entries[index - 1]?.key);
    const keys = first.filter((entry) => isDueEntry(entry, now, overdueMs)).map(({ key, limit }) => ({ key: key!, limit }));
    if (keys.length > limit) return { keys: keys.slice(0, limit), next: keys[limit - 1]!.key };
    return { keys, next: entries.length === entriesTogether ? entries.at(-1)!.key : null };
  }

  page(query: CheckedQuery, labels: readonly string[], after: ListCursor | null, limit: number): Promise<ListedRow[]> {
    return listedRows(this.#connection, query, labels, after, limit);
  }

  async ended({ before, limit, ended }: EndedQuery): Promise<ExecutionGuard[]> {
    const { keys } = this.#connection;
    const lanes = ended ? [...new Set(ended.statuses)].flatMap((status) => keys.lanes(status as EndedLane)) : keys.lanes("deleted");
    const range: Range = { from: noTurn, to: sortable(Math.ceil(before)), filter: ofDefinition(ended?.definitionId ?? null) };
    const found = await Promise.all(lanes.map((lane) => this.#entries(lane, { ...range, limit })));
    const first = found.flat().sort((a, b) => (String(a.turn) < String(b.turn) ? -1 : 1));
    const heads = await this.#heads(first.slice(0, limit).map(({ pk }) => String(pk)));
    // the index may lag
    return heads.filter((head) =>
      ended ? ended.statuses.includes(head.status) && isBefore(head.endedAt, before) : isBefore(head.deletedAt, before),
    );
  }

  async close(): Promise<void> {}

  /** The first entries behind a key. */
  async #keyedEntries(after: string): Promise<(DueEntry & { readonly limit: number })[]> {
    const [lane] = this.#connection.keys.lanes("keyed") as [string];
    const range = { from: after === "" ? noTurn : afterKey(after), to: "\u{10ffff}", limit: entriesTogether };
    const entries = await this.#entries(lane, range);
    return entries.map(({ turn, permitLimit }) => ({ ...readTurn(String(turn)), limit: Number(String(permitLimit)) }));
  }

  /** Heads of what is due, longest due first. */
  async #dueHeads(query: DueQuery): Promise<Head[]> {
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
  async #dueEntries({ key, limit, overdueMs }: DueQuery): Promise<string[]> {
    const { keys, now } = this.#connection;
    const until = now() - overdueMs;
    const atOnce = turnsAtOnce(key, overdueMs > 0 ? until : null);
    const timed = { ...turnsUntil(key, until), limit };
    const entriesOf = async (lane: string): Promise<Item[]> => {
      // both kinds in one question, if there are not too many of the first one
      const isOne = overdueMs === 0 && atOnce.to <= timed.to;
      const entries = await this.#entries(lane, { from: atOnce.from, to: isOne ? timed.to : atOnce.to, limit });
      return isOne && entries.length < limit ? entries : [...entries, ...(await this.#entries(lane, timed))];
    };
    const found = (await Promise.all(keys.lanes(key === null ? "due" : "keyed").map(entriesOf))).flat();
    const turns = new Map(found.map(({ pk, turn }) => [String(pk), readTurn(String(turn))]));
    const first = [...turns].sort(([, a], [, b]) => a.dueAt - b.dueAt || (a.made < b.made ? -1 : 1));
    return first.slice(0, limit).map(([pk]) => pk);
  }

  #entries(lane: string, range: Range & { readonly limit: number }): Promise<Item[]> {
    return firstItems(this.#connection, lane, { ...range, index: dueIndex });
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

type DueEntry = ReturnType<typeof readTurn>;

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
    values: { ":definitionId": storedText(definitionId) },
  };
}
