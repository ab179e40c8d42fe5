import type { RowHistory, StoredEvent } from "../../kit/execution-table.ts";
import type { StoredRows } from "../../kit/restored-snapshot.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { isDuplicate } from "./mongo-error.ts";
import { type Collections, readOptions, writeOptions } from "./mongo-schema.ts";

/**
 * What the last commit of an execution wrote, in the execution's own document: a single document is all that MongoDB writes
 * atomically. The next commit first copies it to documents of their own, then puts its own in its place.
 */
interface Tail {
  readonly commitId: string;
  readonly events: readonly { readonly id: string; readonly version: number; readonly text: string }[];
  readonly children: readonly ChildRow[];
}

/** What a commit did to one child. Ids and places follow on the key of the execution. */
interface ChildRow {
  readonly id: string;
  /** Of the commit. */
  readonly version: number;
  readonly name: string;
  /** Null: it was deleted. */
  readonly text: string | null;
  /** Where it stands if it is new: after all that were there before. Null: it was deleted. */
  readonly place: string | null;
  /** It is new in any case. */
  readonly last: boolean;
}

/** What of an execution's document its history is read from. */
interface TailDocument extends Pick<StoredRows, "version" | "status" | "head"> {
  readonly _id: string;
  readonly incarnation: string;
  readonly key: string;
  readonly tail: Tail;
  /** Version of the last commit that changed children; null: there never were any. */
  readonly childrenAt: number | null;
  readonly checkpointVersion?: number;
}

/** How often rows are copied again because others copy the same ones in the same moment. */
const maxTries = 100;

/** Versions are lower. */
const endOfVersions = 9_999_999_999;

/** The beginning of the ids of an execution's history. Those of no other execution begin with it. */
export function keyOf(id: string, incarnation: string): string {
  return JSON.stringify([id, incarnation]);
}

/** What a commit puts into the document of its execution. */
export function tailFields(version: number, { commitId, events, children }: RowHistory): Pick<TailDocument, "tail"> {
  const eventRows = events.map((event) => ({ id: digits(event.version, 10), ...event }));
  const childRows = children.map(({ key: name, text, last }, index) => {
    const place = text === null ? null : digits(version, 10) + digits(index, 6);
    return { id: JSON.stringify(name), version, name, text, place, last };
  });
  return { tail: { commitId, events: eventRows, children: childRows }, ...(children.length > 0 && { childrenAt: version }) };
}

/**
 * Copies what the last commit wrote to where it stays. It is committed, so it does no harm to do this twice, late, or at the
 * same time as others: an event that is there stays, and so does a child that is not older. That is why the document of a
 * deleted child stays until its execution is deleted: a late copy would bring it back.
 *
 * When this resolves, all of it is there, or the execution's document is of a later version: then somebody else copied it.
 */
export async function flushTail(collections: Collections, id: string, version: number, hasChildren: boolean): Promise<void> {
  const copied = [copyRows(collections, { _id: id, version }, "$tail.events", { commitId: "$tail.commitId" }, "keepExisting")];
  if (hasChildren) {
    const place = { $concat: ["$key", "$tail.children.place"] };
    copied.push(copyRows(collections, { _id: id, version }, "$tail.children", { place }, [{ $replaceWith: newerChild }]));
  }
  await Promise.all(copied);
}

/** Of a child that is there and one that comes, the newer one. A child that changes keeps its place. */
const newerChild: MongoDocument = {
  $cond: [
    { $lt: ["$version", "$$new.version"] },
    {
      $mergeObjects: [
        "$$new",
        { place: { $cond: [{ $or: ["$$new.last", { $in: [null, ["$place", "$$new.place"]] }] }, "$$new.place", "$place"] } },
      ],
    },
    "$$ROOT",
  ],
};

/** Copies rows of a document to documents of their own. The server does it: each row is sent to it once. */
async function copyRows(
  { executions, history }: Collections,
  which: MongoDocument,
  rows: string,
  computed: MongoDocument,
  whenMatched: "keepExisting" | MongoDocument[],
): Promise<void> {
  const copy = [
    { $match: which },
    { $unwind: rows },
    { $replaceWith: { $mergeObjects: [rows, { _id: { $concat: ["$key", `${rows}.id`] }, ...computed }] } },
    { $unset: "id" },
    { $merge: { into: history.collectionName, on: "_id", whenMatched, whenNotMatched: "insert" } },
  ];
  for (let tries = 1; ; tries++) {
    try {
      await executions.aggregate(copy, { ...readingLocal, ...writeOptions }).toArray();
      return;
    } catch (cause) {
      // another process put one of them in the same moment; the others may not be there yet
      if (tries === maxTries || !isDuplicate(cause)) throw cause;
    }
  }
}

/**
 * What the primary has, whatever the client's own read concern is: it could show an older version, of which nothing would
 * be copied, although the update that follows finds the newer one.
 */
export const readingLocal: MongoDocument = { ...readOptions, readConcern: { level: "local" } };

/**
 * The execution as its document tells it. Events never change, so they can be read later; of children only the newest state
 * is kept, and nothing writes a newer one before the execution's document tells of it.
 *
 * @returns null if it was deleted, or its children changed, since the document was read
 */
export async function rowsOf({ executions, history }: Collections, document: MongoDocument): Promise<StoredRows | null> {
  const { _id: workflowId, incarnation, key, version, status, head, childrenAt, tail, ...rest } = document as unknown as TailDocument;
  const from = (rest.checkpointVersion ?? -1) + 1;
  const first = Math.max(from, tail.events[0]?.version ?? version + 1);
  const [events, children] = await Promise.all([
    history.find(eventsBetween(key, from, first), { ...readOptions, sort: { _id: 1 }, projection: { text: 1 } }).toArray(),
    childrenAt === null ? [] : history.find({ place: { $gte: key, $lt: `${key}:` } }, readOptions).toArray(),
  ]);
  if (childrenAt !== null || events.length < first - from) {
    const current = await executions.findOne({ _id: workflowId }, { ...readOptions, projection: { incarnation: 1, childrenAt: 1 } });
    if (current?.incarnation !== incarnation || current.childrenAt !== childrenAt) return null;
  }
  const texts = [...events, ...tail.events].map(({ text }) => text as string);
  return { workflowId, version, status, head, events: texts, children: childrenIn(key, children as unknown as ChildRow[], tail) };
}

/** Events after a version. */
export async function eventsOf({ executions, history }: Collections, id: string, after: number, limit: number): Promise<StoredEvent[]> {
  const document = await executions.findOne({ _id: String(id), deletedAt: null }, { ...readOptions, projection: { key: 1, tail: 1 } });
  if (!document) return [];
  const { key, tail } = document as unknown as TailDocument;
  const last = tail.events.map(({ version, text }) => ({ version, commitId: tail.commitId, text }));
  const first = last[0]?.version ?? endOfVersions;
  const options = { ...readOptions, sort: { _id: 1 }, limit, projection: { _id: 0, version: 1, commitId: 1, text: 1 } };
  const stored = after + 1 < first ? await history.find(eventsBetween(key, after + 1, first), options).toArray() : [];
  return [...(stored as unknown as StoredEvent[]), ...last.filter(({ version }) => version > after)].slice(0, limit);
}

/** Deletes all events and children of an execution. */
export async function deleteHistory({ history }: Collections, key: string): Promise<void> {
  await history.deleteMany({ _id: { $gte: key, $lt: `${key}:` } }, writeOptions);
}

/** Children in their order: those in documents of their own, and what the last commit did to them. It may be there in part. */
function childrenIn(key: string, stored: readonly ChildRow[], tail: Tail): [string, string][] {
  const children = new Map(stored.map((row) => [row.name, row]));
  for (const row of tail.children) {
    const there = children.get(row.name);
    children.set(row.name, { ...row, place: row.place && (there?.place && !row.last ? there.place : key + row.place) });
  }
  const present = [...children.values()].filter(({ place }) => place !== null);
  return present.sort((a, b) => (a.place! < b.place! ? -1 : 1)).map(({ name, text }) => [name, text!]);
}

function eventsBetween(key: string, from: number, before: number): MongoDocument {
  return { _id: { $gte: key + digits(from, 10), $lt: key + digits(before, 10) } };
}

/** A number as text whose order is that of numbers. */
function digits(value: number, count: number): string {
  return String(value).padStart(count, "0");
}
