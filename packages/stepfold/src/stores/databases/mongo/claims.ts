import type { Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, Claimed } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../../kit/checked-store.ts";
import { endedClaim, keptClaim } from "../../kit/verdict.ts";
import { shareRoom } from "../../record/share-room.ts";
import { claimInLine } from "./claim-line.ts";
import { anyLine, claimInLines, type Walk } from "./claim-lines.ts";
import { type Collections, now, reading, returning, writing } from "./collections.ts";
import { dueAtGivenBack, dueAtItsPlace, isDue, startsOf } from "./due-time.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { type Stored, storedOf } from "./stored-execution.ts";
import { claimedOf, takeExecution } from "./take-execution.ts";

/** Most executions that are claimed at once. */
const mostTogether = 16;

/** Takes what is due. Pollers that find nothing write nothing. */
export async function claimDue(collections: Collections, walk: Walk, options: CheckedClaim): Promise<readonly Claimed[]> {
  const { workflowId, permit } = options;
  if (workflowId !== undefined) return claimOne(collections, walk, String(workflowId), options);
  if (permit !== undefined) return claimInLine(collections, walk.turnstile, String(permit), options);
  // in lines what is due now and what has a time go together
  if (options.timedOnly) return (await claimPlain(collections, options)).claimed;
  let isWaiting = walk.isOwed;
  const plain = async (most: number): Promise<Claimed[]> => {
    const found = await claimPlain(collections, { ...options, limit: most });
    ({ isWaiting } = found);
    return found.claimed;
  };
  const inLines = async (most: number): Promise<readonly Claimed[]> =>
    isWaiting ? claimInLines(collections, walk, { ...options, limit: most }) : [];
  const claimed = await shareRoom(walk, options.limit, plain, inLines);
  // who is not there is owed nothing, and costs no question
  walk.isOwed &&= isWaiting;
  return claimed;
}

/** Claims those that take turns with nobody, and tells whether others wait for their turn. */
async function claimPlain(
  collections: Collections,
  options: CheckedClaim,
): Promise<{ readonly claimed: Claimed[]; readonly isWaiting: boolean }> {
  const claimed: Claimed[] = [];
  // a lease that ends while this goes on is no reason to take it from ourselves
  const tried = new Set<string>();
  for (;;) {
    const limit = options.limit - claimed.length;
    const { ids, isWaiting } = await findDue(collections, { ...options, limit: Math.min(limit, mostTogether) });
    const fresh = ids.filter((id) => !tried.has(id));
    for (const id of fresh) tried.add(id);
    const taken = await Promise.all(fresh.map((id) => take(collections, id, options)));
    for (const one of taken) if (one) claimed.push(one);
    if (fresh.length === 0 || claimed.length >= options.limit) return { claimed, isWaiting };
  }
}

/** Prolongs a claim. */
export async function renewClaim(
  { executions }: Collections,
  claim: Claim,
): Promise<{ version: number; status: Status; storeNow: EpochMs }> {
  const { leaseMs } = claim;
  const _id = String(claim.workflowId);
  const until = { $add: [now, leaseMs] };
  const update = [{ $set: { leaseUntil: until, ...dueAtItsPlace(until) } }];
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
  const update = [{ $set: { owner: null, leaseUntil: null, ...dueAtItsPlace(dueAtGivenBack) } }];
  const { matchedCount } = await executions.updateOne({ _id, ...heldBy(claim), version }, update, writing);
  if (matchedCount === 0) keptClaim(claim, version, await storedOf(executions, _id));
}

function heldBy({ incarnation, fence }: Claim): MongoDocument {
  // as text and number: an object, from a program without types, would be an operator
  return { incarnation: String(incarnation), fence: Number(fence), owner: { $ne: null } };
}

/**
 * The first ones by index, and of these those whose time has come by the server's clock. The same question tells whether
 * any wait for their turn, so that it costs nothing where nobody does.
 */
async function findDue(
  { executions }: Collections,
  { limit, overdueMs, timedOnly }: CheckedClaim,
): Promise<{ readonly ids: readonly string[]; readonly isWaiting: boolean }> {
  const waiting = { $unionWith: { coll: executions.collectionName, pipeline: anyLine(overdueMs) } };
  const parts = startsOf({ overdueMs, timedOnly }).map((start, index) => {
    const steps = [
      { $match: { dueAt: { $gte: start } } },
      { $sort: { dueAt: 1, createdAt: 1, seq: 1 } },
      { $limit: limit },
      { $match: { $expr: isDue(overdueMs, "$dueAt") } },
      { $project: { _id: 1 } },
      ...(index === 0 ? [waiting] : []),
    ];
    return executions.aggregate(steps, reading).toArray();
  });
  const found = (await Promise.all(parts)).flat();
  const ids = new Set(found.flatMap(({ _id }) => (_id === undefined ? [] : (_id as string))));
  return { ids: [...ids].slice(0, limit), isWaiting: found.some(({ isWaiting }) => isWaiting === true) };
}

/** Claims the one with an id, in its line if it has to wait for its turn. */
async function claimOne(collections: Collections, { turnstile }: Walk, _id: string, options: CheckedClaim): Promise<readonly Claimed[]> {
  const isDueSomewhere = { $or: [{ dueAt: { $gte: 0 } }, { turnAt: { $gte: 0 } }] };
  const steps = [
    { $match: { _id, ...isDueSomewhere } },
    { $match: { $expr: isDue(options.overdueMs, { $ifNull: ["$turnAt", "$dueAt"] }) } },
    { $project: { permitKey: 1 } },
  ];
  const [found] = await collections.executions.aggregate(steps, reading).toArray();
  if (!found) return [];
  if (found.permitKey !== undefined) return claimInLine(collections, turnstile, found.permitKey as string, { ...options, limit: 1 });
  const taken = await take(collections, _id, options);
  return taken ? [taken] : [];
}

/** Claims one that takes turns with nobody. */
async function take(collections: Collections, _id: string, options: CheckedClaim): Promise<Claimed | null> {
  const stored = await takeExecution(collections, { _id }, "dueAt", options);
  return stored && claimedOf(collections, stored, options);
}
