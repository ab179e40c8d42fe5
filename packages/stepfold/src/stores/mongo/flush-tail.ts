import { type Collections, childId, eventId, literal, writing } from "./collections.ts";
import type { MongoWrite } from "./mongo-client.ts";
import { isDuplicate } from "./mongo-error.ts";
import type { Stored } from "./stored-execution.ts";

/**
 * Copies what the last commit wrote to where it stays. It is committed, so it does no harm to do this twice, late, or at
 * the same time as others: an event that is there stays, and a child that is newer stays too. That is why the document of
 * a deleted child stays until its execution is deleted: a late copy would bring it back.
 */
export async function flushTail(
  { events, children }: Collections,
  { key, version, tail }: Pick<Stored, "key" | "version" | "tail">,
): Promise<void> {
  const rows = tail.events.map(({ version: own, text }): MongoWrite => {
    return { insertOne: { document: { _id: eventId(key, own), version: own, commitId: tail.commitId, event: text } } };
  });
  const changed = tail.children.map((child, index): MongoWrite => {
    const filter = { _id: childId(key, child.key), stamp: { $lt: version } };
    const stamped = { stamp: version, name: literal(child.key), text: literal(child.text) };
    if (child.text === null)
      return { updateOne: { filter, update: [{ $set: stamped }, { $unset: ["execution", "place"] }], upsert: true } };
    const isNew = { $eq: [{ $ifNull: ["$execution", null] }, null] };
    const place = { $cond: [{ $or: [child.last, isNew] }, placeOf(version, index), "$place"] };
    return { updateOne: { filter, update: [{ $set: { ...stamped, execution: literal(key), place } }], upsert: true } };
  });
  await Promise.all([write(events, rows), write(children, changed)]);
}

/** Where a child stands that was put by a commit: after all that were there before. */
export function placeOf(version: number, index: number): number {
  return version * 1_000_000 + index;
}

async function write(collection: Collections["events"], writes: MongoWrite[]): Promise<void> {
  if (writes.length === 0) return;
  try {
    await collection.bulkWrite(writes, { ...writing, ordered: false });
  } catch (cause) {
    if (!isDuplicate(cause)) throw cause;
  }
}
