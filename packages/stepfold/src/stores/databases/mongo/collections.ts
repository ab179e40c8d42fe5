import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { MongoCollection, MongoDatabase, MongoDocument } from "./mongo-client.ts";

/** The collections of a store. */
export interface Collections {
  /** An execution, or the tombstone of one, is one document. */
  readonly executions: MongoCollection;
  readonly events: MongoCollection;
  readonly children: MongoCollection;
  readonly definitions: MongoCollection;
  readonly counters: MongoCollection;
  /** Who was let in under a key that executions share. */
  readonly permits: MongoCollection;
}

/** The collections whose names begin with a prefix. @throws StepfoldError `OPTION_INVALID` */
export function collectionsOf(db: MongoDatabase, prefix: string): Collections {
  if (!/^[A-Za-z0-9_]{0,48}$/.test(prefix)) {
    throw new StepfoldError("OPTION_INVALID", { option: "prefix", reason: "must be letters, digits and underscores, at most 48" });
  }
  return {
    executions: db.collection(`${prefix}executions`),
    events: db.collection(`${prefix}events`),
    children: db.collection(`${prefix}children`),
    definitions: db.collection(`${prefix}definitions`),
    counters: db.collection(`${prefix}counters`),
    permits: db.collection(`${prefix}permits`),
  };
}

/** Only the primary knows what was written last. */
export const reading: MongoDocument = { readPreference: "primary" };

/** An acknowledged write survives the loss of a node, and of power. */
export const writing: MongoDocument = { writeConcern: { w: "majority", journal: true } };

/** For updates that give the document as it is afterwards. */
export const returning: MongoDocument = { ...writing, returnDocument: "after", includeResultMetadata: false };

/** The server's clock, in epoch milliseconds. */
export const now: MongoDocument = { $toDouble: "$$NOW" };

/** A value as itself: text that begins with a dollar would be the name of a field. */
export function literal(value: unknown): MongoDocument {
  return { $literal: value };
}

/** The beginning of all ids of what belongs to an execution. No other execution's begin with it. */
export function keyOf(workflowId: string, incarnation: string): string {
  return JSON.stringify([workflowId, incarnation]);
}

/** The id of an event; in the order of versions. */
export function eventId(key: string, version: number): string {
  return `${key}${String(version).padStart(10, "0")}`;
}

/**
 * The same, computed by the server, of documents with `key` and a version at a path. As a long integer, because a large
 * double might be written with an exponent.
 */
export function eventIdAt(versionPath: string): MongoDocument {
  const digits = { $toString: { $toLong: { $add: [versionPath, 10 ** 10] } } };
  return { $concat: ["$key", { $substrCP: [digits, 1, 10] }] };
}

/** The id of a child. */
export function childId(key: string, child: string): string {
  return key + JSON.stringify(child);
}

/** All events of an execution from a version on and before another one. */
export function eventsBetween(key: string, from: number, before: number): MongoDocument {
  return { _id: { $gte: eventId(key, from), $lt: eventId(key, before) } };
}

/** Versions are lower. */
export const endOfVersions = 9_999_999_999;
