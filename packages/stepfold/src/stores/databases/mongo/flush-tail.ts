import { type Collections, childId, eventIdAt, literal, reading, writing } from "./collections.ts";
import type { MongoDocument, MongoWrite } from "./mongo-client.ts";
import { isDuplicate } from "./mongo-error.ts";
import type { Stored } from "./stored-execution.ts";

type Flushed = Pick<Stored, "_id" | "incarnation" | "key" | "version" | "tail">;

/** How often events are copied again because others copy the same ones in the same moment. */
const mostTries = 100;

/**
 * What the primary has, whatever the client's own read concern is: it could show an older version, of which nothing would
 * be copied, although the update that follows finds the newer one.
 */
const newest: MongoDocument = { readConcern: { level: "local" } };

/**
 * Copies what the last commit wrote to where it stays. It is committed, so it does no harm to do this twice, late, or at
 * the same time as others: an event that is there stays, and a child that is newer stays too. That is why the document of
 * a deleted child stays until its execution is deleted: a late copy would bring it back.
 *
 * When this resolves, all of it is there, or the execution's document is of a later version: then somebody else copied it.
 */
export async function flushTail(collections: Collections, stored: Flushed): Promise<void> {
  await Promise.all([flushEvents(collections, stored), flushChildren(collections, stored)]);
}

/** The server copies them from document to documents: each event is sent to it once, with its commit. */
async function flushEvents({ executions, events }: Collections, { _id, incarnation, version, tail }: Flushed): Promise<void> {
  if (tail.events.length === 0) return;
  const row = { _id: eventIdAt("$tail.events.version"), version: "$tail.events.version", commitId: "$tail.commitId" };
  const copy = [
    { $match: { _id, incarnation, version } },
    { $unwind: "$tail.events" },
    { $project: { ...row, event: "$tail.events.text" } },
    { $merge: { into: events.collectionName, on: "_id", whenMatched: "keepExisting", whenNotMatched: "insert" } },
  ];
  for (let tries = 1; ; tries++) {
    try {
      await executions.aggregate(copy, { ...reading, ...writing, ...newest }).toArray();
      return;
    } catch (cause) {
      // somebody else put one of them in the same moment; the others may not be there yet
      if (tries === mostTries || !isDuplicate(cause)) throw cause;
    }
  }
}

/** Unlike events they change and go, so each is compared with what is there. */
async function flushChildren({ children }: Collections, { key, version, tail }: Flushed): Promise<void> {
  if (tail.children.length === 0) return;
  const changed = tail.children.map((child, index): MongoWrite => {
    const filter = { _id: childId(key, child.key), stamp: { $lt: version } };
    const stamped = { stamp: version, name: literal(child.key), text: literal(child.text) };
    if (child.text === null)
      return { updateOne: { filter, update: [{ $set: stamped }, { $unset: ["execution", "place"] }], upsert: true } };
    const isNew = { $eq: [{ $ifNull: ["$execution", null] }, null] };
    const place = { $cond: [{ $or: [child.last, isNew] }, placeOf(version, index), "$place"] };
    return { updateOne: { filter, update: [{ $set: { ...stamped, execution: literal(key), place } }], upsert: true } };
  });
  try {
    await children.bulkWrite(changed, { ...writing, ordered: false });
  } catch (cause) {
    // one that is there and newer is not found by the filter, and inserting it is refused: it stays
    if (!isDuplicate(cause)) throw cause;
  }
}

/** Where a child stands that was put by a commit: after all that were there before. */
export function placeOf(version: number, index: number): number {
  return version * 1_000_000 + index;
}
