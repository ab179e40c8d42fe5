import type { EpochMs } from "../../core/values/json.ts";
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

/** The same for one that is not new: what was due now before still is, since then. */
export function laterDueAtOf(wakeAt: EpochMs | null): MongoDocument | EpochMs | null {
  if (wakeAt === null || wakeAt > 0) return wakeAt;
  const isDueAnyway = { $and: [{ $gte: ["$dueAt", 0] }, { $lt: ["$dueAt", 1] }] };
  return { $cond: [isDueAnyway, "$dueAt", dueNow] };
}

/** The same for one that is given back as it is. */
export const dueAtGivenBack: MongoDocument = { $cond: [{ $gt: [{ $ifNull: ["$wakeAt", 1] }, 0] }, "$wakeAt", dueNow] };

/** Whether an execution is due, and that for at least so long, by the server's clock. */
export function isDue(overdueMs: number): MongoDocument {
  if (overdueMs === 0) return { $lte: ["$dueAt", now] };
  const latest = { $subtract: [now, overdueMs] };
  const isLate = { $and: [{ $gte: ["$dueAt", 1] }, { $lte: ["$dueAt", latest] }] };
  // of what is due now older versions have written 0
  return { $or: [{ $lte: ["$dueAt", { $divide: [latest, smallness] }] }, isLate] };
}

/** Where in the index that begins which is due for at least so long: at each of them the first ones are due longest. */
export function startsOf(overdueMs: number): readonly number[] {
  return overdueMs === 0 ? [0] : [0, 1];
}
