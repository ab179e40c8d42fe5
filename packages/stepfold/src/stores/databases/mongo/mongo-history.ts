import type { RowHistory, StoredEvent } from "../../kit/execution-rows.ts";
import type { StoredRows } from "../../kit/restoring/restored-snapshot.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { isDuplicate } from "./mongo-error.ts";
import { type Collections, readOptions, writeOptions } from "./mongo-schema.ts";

/**
 * The events and children of the last commit of an execution, in the execution's own document, because MongoDB writes only a single
 * document atomically. The next commit first copies them to separate documents, and then replaces them by its own.
 */
interface Tail {
  readonly commitId: string;
  readonly events: readonly { readonly id: string; readonly version: number; readonly text: string }[];
  readonly children: readonly ChildRow[];
}

/** The change of one child by a commit. In stored documents, ids and places begin with the key of the execution. */
interface ChildRow {
  readonly id: string;
  /** The version of the commit. */
  readonly version: number;
  /** The key of the child. */
  readonly name: string;
  /** JSON; null: the child was deleted. */
  readonly text: string | null;
  /** The position of the child if it is new: after all earlier ones. Null: the child was deleted. */
  readonly place: string | null;
  /** True: the child is new in any case, because the commit deleted it before. */
  readonly last: boolean;
}

/** The fields of an execution's document that are needed to read its history. */
interface TailDocument extends Pick<StoredRows, "version" | "status" | "head"> {
  readonly _id: string;
  readonly incarnation: string;
  readonly key: string;
  readonly tail: Tail;
  /** The version of the last commit that wrote children or a checkpoint, which is stored as a child; null: no commit did. */
  readonly childrenAt: number | null;
  readonly checkpointVersion?: number;
  readonly trimmed?: number;
}

/** How many times a copy of rows is tried if other processes copy the same rows at the same moment. */
const maxTries = 100;

/** A number above all versions. */
const endOfVersions = 9_999_999_999;

/** The beginning of the ids of an execution's history. No ids of another execution or incarnation begin with it. */
export function keyOf(id: string, incarnation: string): string {
  return JSON.stringify([id, incarnation]);
}

/** The fields with the history of a commit, for the document of its execution. */
export function tailFields(version: number, { commitId, events, children }: RowHistory): Pick<TailDocument, "tail"> {
  const eventRows = events.map((event) => ({ id: digits(event.version, 10), ...event }));
  const childRows = children.map(({ key: name, text, moved: last }, index) => {
    const place = text === null ? null : digits(version, 10) + digits(index, 6);
    return { id: JSON.stringify(name), version, name, text, place, last };
  });
  return { tail: { commitId, events: eventRows, children: childRows }, ...(children.length > 0 && { childrenAt: version }) };
}

/**
 * Copies the events and children of the last commit to separate documents. They are committed, so the copy may be made twice, late, or by
 * several processes at once: existing events stay, and so do children that are not older. The document of a deleted child stays until
 * its execution is deleted, because otherwise a late copy would bring the child back.
 *
 * When this resolves, everything is copied, or the execution's document has changed meanwhile: then another process has made a commit,
 * which copied everything first, or has deleted the execution.
 */
export async function flushTail(collections: Collections, id: string, version: number, hasChildren: boolean): Promise<void> {
  const copied = [copyRows(collections, { _id: id, version }, "$tail.events", { commitId: "$tail.commitId" }, "keepExisting")];
  if (hasChildren) {
    const place = { $concat: ["$key", "$tail.children.place"] };
    copied.push(copyRows(collections, { _id: id, version }, "$tail.children", { place }, [{ $replaceWith: newerChild }]));
  }
  await Promise.all(copied);
}

/** The expression that chooses the newer one of a stored child and a copied child. A child that changes keeps its place. */
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

/** Copies rows of a document to separate documents, within the server, so that no row is sent again. */
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
      // another process has inserted one of them at the same moment; the others may still be missing
      if (tries === maxTries || !isDuplicate(cause)) throw cause;
    }
  }
}

/**
 * Reads what the primary has, whatever read concern the client is configured with. Another read concern could return an older version, so
 * that nothing would be copied, although the update that follows finds the newer version.
 */
export const readingLocal: MongoDocument = { ...readOptions, readConcern: { level: "local" } };

/**
 * Reads the rows of an execution at the version of its document. Events never change, so they can be read later. For children only the
 * newest state is kept, but a newer state is never copied before the execution's document names its version.
 *
 * @returns null if the execution was deleted, or its children changed, since the document was read
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

/** Reads the events after a version. */
export async function eventsOf(collections: Collections, id: string, after: number, limit: number): Promise<StoredEvent[]> {
  const { executions, history } = collections;
  const document = await executions.findOne(
    { _id: String(id), deletedAt: null },
    { ...readOptions, projection: { key: 1, tail: 1, trimmed: 1 } },
  );
  if (!document) return [];
  const { key, tail, trimmed = 0 } = document as unknown as TailDocument;
  if (after < 0 && trimmed > 0 && limit > 1) {
    const [first, rest] = [await eventsOf(collections, id, after, 1), await eventsOf(collections, id, trimmed, limit - 1)];
    return [...first, ...rest];
  }
  const from = after < 0 ? 0 : Math.max(after, trimmed) + 1;
  const last = tail.events.map(({ version, text }) => ({ version, commitId: tail.commitId, text }));
  const first = last[0]?.version ?? endOfVersions;
  const options = { ...readOptions, sort: { _id: 1 }, limit, projection: { _id: 0, version: 1, commitId: 1, text: 1 } };
  const stored = from < first ? await history.find(eventsBetween(key, from, first), options).toArray() : [];
  return [...(stored as unknown as StoredEvent[]), ...last.filter(({ version }) => version >= from)].slice(0, limit);
}

/** Deletes the events between the first one and a version. */
export async function deleteEarlierEvents({ history }: Collections, key: string, before: number): Promise<void> {
  await history.deleteMany(eventsBetween(key, 1, before), writeOptions);
}

/** Deletes all documents of events and children of an execution. @param key see `keyOf` */
export async function deleteHistory({ history }: Collections, key: string): Promise<void> {
  await history.deleteMany({ _id: { $gte: key, $lt: `${key}:` } }, writeOptions);
}

/** Returns children in their order: the stored ones with the changes of the last commit, which may be stored already or in part. */
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

/** Writes a number with leading zeros, so that texts sort like numbers. */
function digits(value: number, count: number): string {
  return String(value).padStart(count, "0");
}
