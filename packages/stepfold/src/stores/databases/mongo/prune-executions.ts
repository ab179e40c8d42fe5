import type { Json } from "../../../core/values/json.ts";
import type { PruneReport } from "../../../ports/snapshot-store.ts";
import type { CheckedPrune } from "../../kit/checked-store.ts";
import { refuseDelete } from "../../kit/verdict.ts";
import { type Collections, endOfVersions, eventsBetween, literal, now, reading, writing } from "./collections.ts";
import { forgetRows } from "./permit-row.ts";
import { type Stored, storedOf } from "./stored-execution.ts";

/** Most executions that are deleted at once. */
const mostTogether = 16;

/** Deletes one ended execution and leaves a tombstone in its place. */
export async function deleteExecution(collections: Collections, workflowId: string): Promise<void> {
  const stored = await storedOf(collections.executions, workflowId);
  refuseDelete(workflowId, stored?.status ?? null);
  if (!(await bury(collections, stored!))) refuseDelete(workflowId, null);
}

/** Deletes ended executions, those first that were changed least recently, and forgets ids whose retention is over. */
export async function pruneExecutions(
  collections: Collections,
  { before, definitionId, statuses, limit, dryRun }: CheckedPrune,
  retentionMs: number,
): Promise<PruneReport> {
  const { executions } = collections;
  const which = {
    endedAt: { $gte: 0, $lt: before },
    status: { $in: [...statuses] },
    ...(definitionId !== null && { definitionId: { $eq: definitionId } }),
  };
  const projection = { key: 1, incarnation: 1, status: 1, version: 1, head: 1 };
  const found = await executions.find(which, { ...reading, projection, sort: { endedAt: 1, seq: 1 }, limit }).toArray();
  let report: PruneReport = { executions: 0, events: 0 };
  await together(found as unknown as Stored[], async (stored) => {
    if (!dryRun && !(await bury(collections, stored))) return;
    // each version is one event
    report = { executions: report.executions + 1, events: report.events + stored.version + 1 };
  });
  if (!dryRun) await Promise.all([forget(collections, retentionMs, limit), forgetRows(collections, limit)]);
  return report;
}

/** Puts a tombstone in an execution's place, then deletes what belonged to it. False if somebody else did so. */
async function bury(collections: Collections, { _id, key, incarnation, status, version, head }: Stored): Promise<boolean> {
  const tombstone = { _id: "$_id", key: "$key", incarnation: "$incarnation", status: "$status", output: literal(outputOf(head)) };
  const filter = { _id, incarnation, status, version };
  // `full`: its events and children are still there
  const update = [{ $replaceWith: { ...tombstone, deletedAt: now, full: true } }];
  const { matchedCount } = await collections.executions.updateOne(filter, update, writing);
  if (matchedCount === 1) await empty(collections, { _id, key });
  return matchedCount === 1;
}

/** Deletes the events and children of an execution that is a tombstone. */
async function empty({ executions, events, children }: Collections, { _id, key }: Pick<Stored, "_id" | "key">): Promise<void> {
  await events.deleteMany(eventsBetween(key, 0, endOfVersions), writing);
  await children.deleteMany({ _id: { $gte: `${key}"`, $lt: `${key}#` } }, writing);
  await executions.updateOne({ _id, key, full: true }, { $unset: { full: "" } }, writing);
}

/** Finishes deletions that were broken off, and deletes tombstones whose time is over. */
async function forget(collections: Collections, retentionMs: number, limit: number): Promise<void> {
  const { executions } = collections;
  const left = { deletedAt: { $gte: 0 }, full: true };
  const full = await executions.find(left, { ...reading, projection: { key: 1 }, limit }).toArray();
  await together(full as unknown as Stored[], (stored) => empty(collections, stored));
  const isOver = { $expr: { $lte: [{ $add: ["$deletedAt", retentionMs] }, now] } };
  await executions.deleteMany({ deletedAt: { $gte: 0 }, full: { $exists: false }, ...isOver }, writing);
}

/** The output as JSON; null if there is none, or the head is damaged. */
function outputOf(head: string): string | null {
  try {
    const { output } = JSON.parse(head) as { output?: Json };
    return output === undefined ? null : JSON.stringify(output);
  } catch {
    return null;
  }
}

async function together<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += mostTogether) await Promise.all(items.slice(at, at + mostTogether).map(work));
}
