import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { StoreFeatures } from "../../../ports/snapshot-store.ts";
import type { CheckedQuery } from "../../kit/checked-store.ts";
import type {
  DueExecutions,
  DueKey,
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
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import type { MongoDatabase, MongoDocument } from "./mongo-client.ts";
import { guardFields, guardOf, isDueFor } from "./mongo-documents.ts";
import { eventsOf, rowsOf } from "./mongo-history.ts";
import { mongoRecords } from "./mongo-records.ts";
import { type Collections, collectionsOf, migrateMongo, now, reading, refuseOlderLayout } from "./mongo-schema.ts";
import { writeRow } from "./mongo-writes.ts";

/** Of the head, one event or one child. */
const maxValueBytes = 8_000_000;

/** Entries of the index of what is due that are looked at in one go. */
const entriesTogether = 64;

/** How often executions are read again because they change while they are read. */
const maxTries = 100;

/** Executions in the collections of a MongoDB database. */
export class MongoTable implements ExecutionTable {
  readonly name = "mongodb";
  readonly features: StoreFeatures = { clock: "store", durable: true, multiProcess: true, maxValueBytes, permits: true };
  readonly records: RecordTable = mongoRecords(() => this.#open());
  readonly #db: MongoDatabase;
  readonly #collections: Collections;
  /** Tells apart what two processes create as their first, their second... in the same millisecond. */
  readonly #processNumber = Math.floor(Math.random() * 2 ** 20);
  #created = 0;
  readonly #prepare: () => Promise<void>;
  #ready: Promise<void> | null = null;

  /** @throws StepfoldError `OPTION_INVALID` for a prefix that is none */
  constructor(db: MongoDatabase, prefix: string, migrate: boolean) {
    this.#db = db;
    this.#collections = collectionsOf(db, prefix);
    this.#prepare = () => (migrate ? migrateMongo(db, { prefix }) : refuseOlderLayout(db, prefix));
  }

  /** What `$$NOW` is in a statement, asked for alone. */
  async now(): Promise<EpochMs> {
    const { localTime } = await this.#db.command({ hello: 1 });
    return (localTime as Date).getTime();
  }

  async read(ids: readonly string[]): ReturnType<ExecutionTable["read"]> {
    const { executions } = await this.#open();
    const steps = [{ $match: { _id: { $in: ids.map(String) } } }, { $project: { ...guardFields, now } }];
    const rows = await executions.aggregate(steps, reading).toArray();
    const found = new Map(rows.map(({ now: _, ...row }) => [row._id as string, guardOf(row)]));
    return { now: (rows[0]?.now as EpochMs | undefined) ?? (await this.now()), found };
  }

  async load(ids: readonly string[]): ReturnType<ExecutionTable["load"]> {
    const collections = await this.#open();
    const found = new Map<string, StoredRows>();
    let left = ids.map(String);
    for (let tries = 0; tries < maxTries && left.length > 0; tries++) {
      const documents = await collections.executions
        .find({ _id: { $in: left }, deletedAt: null }, { ...reading, projection: { labels: 0, definition: 0, metadata: 0 } })
        .toArray();
      const rows = await Promise.all(documents.map((document) => rowsOf(collections, document)));
      for (const row of rows) if (row) found.set(row.workflowId, row);
      left = documents.map(({ _id }) => _id as string).filter((id) => !found.has(id));
    }
    if (left.length === 0) return found;
    const reason = "the execution changed all the time while it was read";
    throw new StepfoldError("STORE_UNAVAILABLE", { store: this.name, reason });
  }

  async write(writes: readonly RowWrite[]): Promise<(RowWritten | null)[]> {
    const collections = await this.#open();
    return Promise.all(writes.map((write) => writeRow(collections, write, () => ++this.#created * 2 ** 20 + this.#processNumber)));
  }

  async events(id: string, afterVersion: number, limit: number): Promise<StoredEvent[]> {
    return eventsOf(await this.#open(), id, afterVersion, limit);
  }

  async due({ key, limit, overdueMs }: DueQuery): Promise<DueExecutions> {
    const { executions } = await this.#open();
    const isAnyDue = { $group: { _id: null, entries: { $sum: 1 }, isDue: { $max: isDueFor(overdueMs) } } };
    const keyed = { $unionWith: { coll: executions.collectionName, pipeline: [...entriesAfter(""), isAnyDue] } };
    const steps = [
      { $match: { permitKey: { $eq: key ?? "" }, dueAt: { $gte: 0 } } },
      { $sort: { dueAt: 1, seq: 1 } },
      { $limit: limit },
      { $match: { $expr: isDueFor(overdueMs) } },
      { $project: guardFields },
      ...(key === null ? [keyed] : []),
    ];
    const found = await executions.aggregate(steps, reading).toArray();
    const looked = found.find(({ _id }) => _id === null);
    const areKeysDue = looked !== undefined && (looked.isDue === true || looked.entries === entriesTogether);
    return { executions: found.filter(({ _id }) => _id !== null).map(guardOf), areKeysDue };
  }

  async dueKeys(after: string, limit: number, overdueMs: number): Promise<DueKeys> {
    const { executions } = await this.#open();
    const shown = { $project: { _id: 0, key: "$permitKey", limit: "$permitLimit", isDue: isDueFor(overdueMs) } };
    const found = await executions.aggregate([...entriesAfter(after), shown], reading).toArray();
    const entries = found as unknown as (DueKey & { readonly isDue: boolean })[];
    // the first of a key is due longest
    const keys = entries.filter(({ key, isDue }, index) => isDue && key !== entries[index - 1]?.key);
    if (keys.length > limit) return { keys: keys.slice(0, limit), next: keys[limit - 1]!.key };
    return { keys, next: entries.length === entriesTogether ? entries.at(-1)!.key : null };
  }

  async page(query: CheckedQuery, labels: readonly string[], after: ListCursor | null, limit: number): Promise<ListedRow[]> {
    const { executions } = await this.#open();
    const { status, definitionId, createdBefore, createdAfter } = query;
    const { createdAt, seq } = after ?? { createdAt: Number.MAX_SAFE_INTEGER, seq: 0 };
    const conditions = [
      {
        createdAt: {
          $gte: 0,
          ...(createdBefore !== undefined && { $lt: createdBefore }),
          ...(createdAfter !== undefined && { $gt: createdAfter }),
        },
      },
      { $or: [{ createdAt: { $lt: createdAt } }, { createdAt, seq: { $lt: seq } }] },
      ...(status ? [{ status: { $in: [...status] } }] : []),
      ...(definitionId !== undefined ? [{ definitionId: { $eq: definitionId } }] : []),
      ...labels.map((label) => ({ labels: { $eq: label } })),
    ];
    const options = { ...reading, projection: { tail: 0, labels: 0 }, sort: { createdAt: -1, seq: -1 }, limit };
    const rows = (await executions.find({ $and: conditions }, options).toArray()) as unknown as (ListedRow & ExecutionGuard)[];
    return rows.map((row) => ({ ...row, ...guardOf(row as never), leaseUntil: row.owner === null ? null : row.dueAt }));
  }

  async ended({ before, limit, ended }: EndedQuery): Promise<ExecutionGuard[]> {
    const { executions } = await this.#open();
    const field = ended ? "endedAt" : "deletedAt";
    const which = ended && {
      status: { $in: [...ended.statuses] },
      ...(ended.definitionId !== null && { definitionId: { $eq: ended.definitionId } }),
    };
    const options = { ...reading, projection: guardFields, sort: { [field]: 1, seq: 1 }, limit };
    return (await executions.find({ [field]: { $gte: 0, $lt: before }, ...which }, options).toArray()).map(guardOf);
  }

  async close(): Promise<void> {}

  async #open(): Promise<Collections> {
    this.#ready ??= this.#prepare();
    try {
      await this.#ready;
    } catch (cause) {
      this.#ready = null;
      throw cause;
    }
    return this.#collections;
  }
}

/** The first entries behind a key in the index of what is due. */
function entriesAfter(key: string): MongoDocument[] {
  return [
    { $match: { permitKey: { $gt: key }, dueAt: { $gte: 0 } } },
    { $sort: { permitKey: 1, dueAt: 1, seq: 1 } },
    { $limit: entriesTogether },
  ];
}
