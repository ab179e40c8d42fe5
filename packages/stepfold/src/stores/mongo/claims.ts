import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed } from "../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../record/checked-store.ts";
import { endedClaim, keptClaim } from "../record/refusal.ts";
import { type Collections, literal, now, reading, returning, writing } from "./collections.ts";
import { dueAtGivenBack, isDue, startsOf } from "./due-time.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { loadSnapshot, snapshotAt } from "./read-snapshot.ts";
import { type Stored, storedOf } from "./stored-execution.ts";

/** Most executions that are claimed at once. */
const mostTogether = 16;

const crashesBefore = { $ifNull: ["$crashes", 0] };

/** Takes what is due. Pollers that find nothing write nothing. */
export async function claimDue(collections: Collections, options: CheckedClaim): Promise<Claimed[]> {
  const claimed: Claimed[] = [];
  // a lease that ends while this goes on is no reason to take it from ourselves
  const tried = new Set<string>();
  while (claimed.length < options.limit) {
    const found = await dueIds(collections, Math.min(options.limit - claimed.length, mostTogether), options);
    const fresh = found.filter((id) => !tried.has(id));
    if (fresh.length === 0) break;
    for (const id of fresh) tried.add(id);
    const taken = await Promise.all(fresh.map((id) => take(collections, id, options)));
    for (const one of taken) if (one) claimed.push(one);
  }
  return claimed;
}

/** Prolongs a claim. */
export async function renewClaim(
  { executions }: Collections,
  claim: Claim,
): Promise<{ version: number; status: Status; storeNow: EpochMs }> {
  const { leaseMs } = claim;
  const _id = String(claim.workflowId);
  const until = { $add: [now, leaseMs] };
  const update = [{ $set: { leaseUntil: until, dueAt: until } }];
  const projection = { version: 1, status: 1, leaseUntil: 1 };
  const found = await executions.findOneAndUpdate({ _id, ...heldBy(claim) }, update, { ...returning, projection });
  if (found) {
    const { version, status, leaseUntil } = found as unknown as Stored;
    return { version, status, storeNow: leaseUntil! - leaseMs };
  }
  const [stored] = await executions
    .aggregate([{ $match: { _id, deletedAt: { $exists: false } } }, { $addFields: { now } }], reading)
    .toArray();
  const { version, status } = endedClaim(claim, (stored ?? null) as unknown as Stored | null);
  return { version, status, storeNow: stored!.now as EpochMs };
}

/** Gives a claim back. */
export async function releaseClaim({ executions }: Collections, claim: Claim, version: number): Promise<void> {
  const _id = String(claim.workflowId);
  const update = [{ $set: { owner: null, leaseUntil: null, dueAt: dueAtGivenBack } }];
  const { matchedCount } = await executions.updateOne({ _id, ...heldBy(claim), version }, update, writing);
  if (matchedCount === 0) keptClaim(claim, version, await storedOf(executions, _id));
}

function heldBy({ incarnation, fence }: Claim): MongoDocument {
  // as text and number: an object, from a program without types, would be an operator
  return { incarnation: String(incarnation), fence: Number(fence), owner: { $ne: null } };
}

/** The first ones by index, and of these those whose time has come by the server's clock. */
async function dueIds({ executions }: Collections, limit: number, { workflowId, overdueMs }: CheckedClaim): Promise<string[]> {
  const one = workflowId === undefined ? {} : { _id: String(workflowId) };
  const starts = workflowId === undefined ? startsOf(overdueMs) : [0];
  const parts = starts.map((start) => {
    const steps = [
      { $match: { ...one, dueAt: { $gte: start } } },
      { $sort: { dueAt: 1, createdAt: 1, seq: 1 } },
      { $limit: limit },
      { $match: { $expr: isDue(overdueMs) } },
      { $project: { _id: 1 } },
    ];
    return executions.aggregate(steps, reading).toArray();
  });
  const found = (await Promise.all(parts)).flat().map(({ _id }) => _id as string);
  return [...new Set(found)].slice(0, limit);
}

/** Claims one, if it is still due. Null also if it is damaged: it stays claimed, so that it is not tried again and again. */
async function take(collections: Collections, _id: string, { owner, leaseMs, overdueMs }: CheckedClaim): Promise<Claimed | null> {
  const until = { $add: [now, leaseMs] };
  // who still holds it was lost
  const crashed = { $cond: [{ $eq: ["$owner", null] }, crashesBefore, { $add: [crashesBefore, 1] }] };
  const held = { owner: literal(owner), fence: { $add: ["$fence", 1] }, leaseUntil: until, dueAt: until };
  const which = { _id, dueAt: { $gte: 0 }, $expr: isDue(overdueMs) };
  const update = [{ $set: { ...held, crashes: crashed } }];
  const stored = (await collections.executions.findOneAndUpdate(which, update, returning)) as unknown as Stored | null;
  if (!stored) return null;
  const { incarnation, fence, leaseUntil, crashes = 0 } = stored;
  try {
    // of one whose children changed meanwhile: what is there now
    const snapshot = (await snapshotAt(collections, stored)) ?? (await loadSnapshot(collections, _id));
    if (snapshot?.incarnation !== incarnation) return null;
    return { claim: { workflowId: _id, incarnation, owner, leaseMs, fence, claimedAt: leaseUntil! - leaseMs, crashes }, snapshot };
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED")) return null;
    throw error;
  }
}
