import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Status } from "../../../core/snapshot/snapshot.ts";
import { statuses } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import { durationBoundsMs, type SeriesQuery } from "../../../ports/execution-counts.ts";
import { bucketMs } from "../../../ports/list-fallbacks.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import { firstDueKeys } from "../../kit/claims/due-keys.ts";
import { isExempt } from "../../kit/claims/exempt.ts";
import { earlierRunsTerms, endedTerms, pageTerms } from "../../kit/columns.ts";
import { creationNumbers } from "../../kit/creation-numbers.ts";
import type { ExecutionGuard, RowWrite, RowWritten, StoredEvent } from "../../kit/execution-rows.ts";
import type { DueExecutions, DueKey, DueKeys, DueQuery, ExecutionTable } from "../../kit/execution-table.ts";
import { labelsIn } from "../../kit/lists/labels.ts";
import type * as lists from "../../kit/lists/list-table.ts";
import { onceReady } from "../../kit/once-ready.ts";
import type { RecordTable } from "../../kit/record-table.ts";
import type { StoredRows } from "../../kit/restoring/restored-snapshot.ts";
import { listedPart } from "../../kit/row-rules.ts";
import type { MongoDatabase, MongoDocument } from "./mongo-client.ts";
import { filterOfTerms, guardFields, guardInDocument, isDueFor } from "./mongo-documents.ts";
import { eventsOf, rowsOf } from "./mongo-history.ts";
import { mongoRecords } from "./mongo-records.ts";
import { beforeAllTimes, type Collections, collectionsOf, migrateMongo, now, readOptions, refuseOlderLayout } from "./mongo-schema.ts";
import { writeDocument } from "./mongo-writes.ts";

/** The most bytes of the head, one event or one child. */
const maxValueBytes = 8_000_000;

/** The number of entries that one query for keys reads of the index of due executions, and one for executions that need no permit of theirs. */
const entriesTogether = 64;

/** How many times executions are read if they change while they are read. */
const maxTries = 100;

/** Executions in the collections of a MongoDB database. */
export class MongoTable implements ExecutionTable, lists.ListTable {
  readonly lists: lists.ListTable = this;
  readonly name = "mongodb";
  readonly features: StoreFeatures = { clock: "store", durable: true, multiProcess: true, maxValueBytes, permits: true };
  readonly records: RecordTable;
  readonly #db: MongoDatabase;
  /** Returns the collections, after it has checked their layout or made the indexes. */
  readonly #open: () => Promise<Collections>;
  readonly #nextSeq = creationNumbers();

  /** @throws StepfoldError `OPTION_INVALID` for an invalid prefix */
  constructor(db: MongoDatabase, prefix: string, migrate: boolean) {
    const collections = collectionsOf(db, prefix);
    this.#db = db;
    this.#open = onceReady(async () => {
      await (migrate ? migrateMongo(db, { prefix }) : refuseOlderLayout(db, prefix));
      return collections;
    });
    this.records = mongoRecords(this.#open);
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const { executions } = await this.#open();
    const steps = [{ $match: { _id: { $in: ids.map(String) } } }, { $project: { ...guardFields, now } }];
    const rows = await executions.aggregate(steps, readOptions).toArray();
    const found = new Map(rows.map(({ now: _, ...row }) => [row._id as string, guardInDocument(row)]));
    // the clock of `$$NOW`, for a read that finds no document
    const asked = async (): Promise<EpochMs> => ((await this.#db.command({ hello: 1 })).localTime as Date).getTime();
    return { now: (rows[0]?.now as EpochMs | undefined) ?? (await asked()), found };
  }

  async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    const collections = await this.#open();
    const found = new Map<string, StoredRows>();
    let left = ids.map(String);
    for (let tries = 0; tries < maxTries && left.length > 0; tries++) {
      const documents = await collections.executions
        .find({ _id: { $in: left }, deletedAt: null }, { ...readOptions, projection: { labels: 0, definition: 0, metadata: 0 } })
        .toArray();
      const rows = await Promise.all(documents.map((document) => rowsOf(collections, document)));
      for (const row of rows) if (row) found.set(row.workflowId, row);
      left = documents.map(({ _id }) => _id as string).filter((id) => !found.has(id));
    }
    if (left.length === 0) return found;
    const reason = "the execution kept changing while it was read";
    throw new StepfoldError("STORE_UNAVAILABLE", { store: this.name, reason });
  }

  async heads(ids: readonly string[]): Promise<lists.ListedRow[]> {
    return this.#listed({ _id: { $in: ids.map(String) }, deletedAt: null }, {});
  }

  async write(writes: readonly RowWrite[]): Promise<(RowWritten | null)[]> {
    const collections = await this.#open();
    return Promise.all(writes.map((write) => writeDocument(collections, write, this.#nextSeq)));
  }

  async events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    return eventsOf(await this.#open(), id, afterVersion, limit);
  }

  async due({ keys, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    if (keys) return { executions: (await Promise.all(keys.map((key) => this.#dueOf(key, limit, overdueMs)))).flat(), keyedDue: "exempt" };
    const { executions } = await this.#open();
    const isAnyDue = { $group: { _id: null, entries: { $sum: 1 }, isDue: { $max: isDueFor(overdueMs) } } };
    const isAnyExempt = { $group: { _id: null, exempt: { $sum: 1 } } };
    const looks = [
      [...entriesAfter(""), isAnyDue],
      [...exemptAfter(null, 1, overdueMs), isAnyExempt],
    ].map((pipeline) => ({ $unionWith: { coll: executions.collectionName, pipeline } }));
    const found = await executions.aggregate([...dueOfKey("", limit, overdueMs), ...looks], readOptions).toArray();
    const { isDue, entries, exempt }: MongoDocument = Object.assign({}, ...found.filter(({ _id }) => _id === null));
    const someDue = exempt === undefined ? "some" : "exempt";
    const keyedDue = isDue === true || entries === entriesTogether ? someDue : "none";
    return { executions: found.filter(({ _id }) => _id !== null).map(guardInDocument), keyedDue };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const { executions } = await this.#open();
    const limitIfDue = { $cond: [isDueFor(overdueMs), "$permitLimit", 0] };
    const shown = { $project: { _id: 0, key: "$permitKey", limit: limitIfDue } };
    const found = await executions.aggregate([...entriesAfter(after), shown], readOptions).toArray();
    return firstDueKeys(found as unknown as readonly DueKey[], entriesTogether, limit);
  }

  async exempt(limit: number, overdueMs: number): Promise<ExecutionGuard[]> {
    const { executions } = await this.#open();
    const found: ExecutionGuard[] = [];
    const together = Math.max(limit, entriesTogether);
    // those that are held or not due yet do not use up the limit
    for (let last: ExecutionGuard | null = null; ; ) {
      const rows = await executions.aggregate(exemptAfter(last, together, overdueMs), readOptions).toArray();
      for (const { now: at, ...row } of rows) {
        last = guardInDocument(row);
        if (isExempt(last, at as EpochMs, overdueMs)) found.push(last);
        if (found.length === limit) return found;
      }
      if (rows.length < together) return found;
    }
  }

  async page(query: lists.PageQuery): Promise<lists.ListedPart> {
    const { after, limit } = query;
    const [than, sign] = query.order === "newest" ? (["$lt", -1] as const) : (["$gt", 1] as const);
    const rest = after
      ? [{ $or: [{ createdAt: { [than]: after.createdAt } }, { createdAt: after.createdAt, seq: { [than]: after.seq } }] }]
      : [];
    const rows = await this.#listed({ $and: [...filtersOf(query), ...rest] }, { sort: { createdAt: sign, seq: sign }, limit });
    return listedPart(rows, query);
  }

  async count(query: lists.PageQuery): Promise<lists.CountedRows> {
    const { executions } = await this.#open();
    const countOf = async (status: Status): Promise<[Status, number]> => {
      const filter = { $and: filtersOf({ ...query, status: [status] }) };
      const [counted] = await executions
        .aggregate([{ $match: filter }, { $limit: query.limit }, { $count: "amount" }], readOptions)
        .toArray();
      return [status, (counted?.amount as number | undefined) ?? 0];
    };
    return { counts: new Map(await Promise.all((query.status ?? statuses).map(countOf))) };
  }

  async endedCounts(query: SeriesQuery): Promise<lists.EndedCounts> {
    const { executions } = await this.#open();
    const { from, to, definitionId } = query;
    const filter = { endedAt: { $gte: from, $lt: to }, ...(definitionId !== undefined && { definitionId: { $eq: definitionId } }) };
    const isLonger = durationBoundsMs.map((bound) => ({ $cond: [{ $gte: [{ $subtract: ["$endedAt", "$createdAt"] }, bound] }, 1, 0] }));
    const bucket = { $floor: { $divide: [{ $subtract: ["$endedAt", from] }, bucketMs(query)] } };
    const group = { _id: { bucket, status: "$status", durationClass: { $add: isLonger } }, amount: { $sum: 1 } };
    const found = await executions.aggregate([{ $match: filter }, { $group: group }], readOptions).toArray();
    return { counts: found.map(({ _id, amount }) => ({ ...(_id as lists.EndedCount), amount: amount as number })) };
  }

  async ended(query: lists.EndedQuery): Promise<ExecutionGuard[]> {
    const { executions } = await this.#open();
    const field = query.ended ? "endedAt" : "deletedAt";
    const options = { ...readOptions, projection: guardFields, sort: { [field]: 1, seq: 1 }, limit: query.limit };
    const filter = { [field]: { $gte: 0 }, ...filterOfTerms(endedTerms(query)) };
    return (await executions.find(filter, options).toArray()).map(guardInDocument);
  }

  async earlierRuns(query: lists.EarlierRunsQuery): Promise<lists.LaterRun[]> {
    const { executions } = await this.#open();
    const projection = { ...guardFields, checkpointVersion: 1 };
    const options = { ...readOptions, projection, sort: { runAt: 1, seq: 1 }, limit: query.limit };
    const found = await executions.find({ runAt: { $gte: 0 }, ...filterOfTerms(earlierRunsTerms(query)) }, options).toArray();
    return found.map((document) => ({ ...guardInDocument(document), checkpointVersion: Number(document.checkpointVersion ?? -1) }));
  }

  async #listed(filter: MongoDocument, options: MongoDocument): Promise<lists.ListedRow[]> {
    const { executions } = await this.#open();
    const found = await executions.find(filter, { ...readOptions, projection: { tail: 0, labels: 0 }, ...options }).toArray();
    return (found as unknown as lists.ListedRow[]).map((row) => ({ ...row, ...guardInDocument(row as never) }));
  }

  async #dueOf(key: string, limit: number, overdueMs: number): Promise<ExecutionGuard[]> {
    const { executions } = await this.#open();
    return (await executions.aggregate(dueOfKey(key, limit, overdueMs), readOptions).toArray()).map(guardInDocument);
  }
}

/** The filters of a list query. `createdAt: { $gte: 0 }` lets MongoDB use the indexes, which only contain documents with this field. */
function filtersOf(query: lists.PageQuery): MongoDocument[] {
  return [
    { createdAt: { $gte: 0 } },
    filterOfTerms(pageTerms(query)),
    ...query.labels.flatMap(labelsIn).map((label) => ({ labels: { $eq: label } })),
  ];
}

/** The steps that find due executions with one permit key, the longest due first; "": those without a permit. */
function dueOfKey(key: string, limit: number, overdueMs: number): MongoDocument[] {
  return [
    { $match: { permitKey: { $eq: key }, dueAt: { $gte: 0 } } },
    { $sort: { dueAt: 1, seq: 1 } },
    { $limit: limit },
    { $match: { $expr: isDueFor(overdueMs) } },
    { $project: guardFields },
  ];
}

/** The steps that read the first entries after a permit key in the index of due executions. */
function entriesAfter(key: string): MongoDocument[] {
  return [
    { $match: { permitKey: { $gt: key }, dueAt: { $gte: 0 } } },
    { $sort: { permitKey: 1, dueAt: 1, seq: 1 } },
    { $limit: entriesTogether },
  ];
}

/**
 * The steps that read the first entries after an execution in the index of those that need no permit at some time, and leave out those whose
 * time has not come. So no more entries are read than `limit`, however many have a later time.
 */
function exemptAfter(last: ExecutionGuard | null, limit: number, overdueMs: number): MongoDocument[] {
  const from = last?.exemptAt ?? beforeAllTimes;
  const isPast = { $lte: ["$exemptAt", { $max: [0, { $subtract: [now, overdueMs] }] }] };
  return [
    { $match: { exemptAt: { $gte: from }, ...(last && { $or: [{ exemptAt: { $gt: from } }, { seq: { $gt: last.seq } }] }) } },
    { $sort: { exemptAt: 1, seq: 1 } },
    { $limit: limit },
    { $match: { $expr: isPast } },
    { $project: { ...guardFields, now } },
  ];
}
