import type { EpochMs } from "../../../core/values/json.ts";
import { now } from "./collections.ts";
import type { MongoDocument } from "./mongo-client.ts";

/**
 * What is due now comes before whatever has a time, in the order in which it became so: its place in the index is the time
 * of the write that said so, made so small that it stands between 0, where the index begins, and every time.
 */
const smallness = 10 ** 16;
const dueNow: MongoDocument = { $divide: [now, smallness] };

/** When an execution that nobody holds is due, as the index keeps it. */
export function dueAtOf(wakeAt: EpochMs | null): MongoDocument | EpochMs | null {
  return wakeAt === null || wakeAt > 0 ? wakeAt : dueNow;
}

/**
 * Where the time stands at which an execution is due: of one with a permit in an index of its own, so that those who wait
 * for their turn hold up nobody.
 */
export type DueField = "dueAt" | "turnAt";

/** The same for one that is not new: what was due now before still is, since then. */
export function laterDueAtOf(wakeAt: EpochMs | null, field: DueField): MongoDocument | EpochMs | null {
  if (wakeAt === null || wakeAt > 0) return wakeAt;
  const before = `$${field}`;
  const isDueAnyway = { $and: [{ $gte: [before, 0] }, { $lt: [before, 1] }] };
  return { $cond: [isDueAnyway, before, dueNow] };
}

/** A time, put where that of the execution stands. */
export function dueAtItsPlace(at: MongoDocument): MongoDocument {
  const hasPermit = { $eq: [{ $type: "$permitKey" }, "string"] };
  return { dueAt: { $cond: [hasPermit, null, at] }, turnAt: { $cond: [hasPermit, at, "$$REMOVE"] } };
}

/** The same for one that is given back as it is. */
export const dueAtGivenBack: MongoDocument = { $cond: [{ $gt: [{ $ifNull: ["$wakeAt", 1] }, 0] }, "$wakeAt", dueNow] };

/** Whether an execution is due, and that for at least so long, by the server's clock. */
export function isDue(overdueMs: number, dueAt: string | MongoDocument): MongoDocument {
  if (overdueMs === 0) return { $lte: [dueAt, now] };
  const latest = { $subtract: [now, overdueMs] };
  const isLate = { $and: [{ $gte: [dueAt, 1] }, { $lte: [dueAt, latest] }] };
  // of what is due now older versions have written 0
  return { $or: [{ $lte: [dueAt, { $divide: [latest, smallness] }] }, isLate] };
}

/** Where in the index that begins which is due for at least so long: at each of them the first ones are due longest. */
export function startsOf({ overdueMs, timedOnly }: { readonly overdueMs: number; readonly timedOnly: boolean }): readonly number[] {
  if (timedOnly) return [1];
  return overdueMs === 0 ? [0] : [0, 1];
}
