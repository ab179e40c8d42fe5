import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { Claimed } from "../../../ports/snapshot-store.ts";
import type { CheckedClaim } from "../../kit/checked-store.ts";
import { type Collections, literal, now, returning } from "./collections.ts";
import { type DueField, isDue } from "./due-time.ts";
import type { MongoDocument } from "./mongo-client.ts";
import { loadSnapshot, snapshotAt } from "./read-snapshot.ts";
import type { Stored } from "./stored-execution.ts";

const crashesBefore = { $ifNull: ["$crashes", 0] };

/** Claims an execution, if it is still due. Null if it is not, or something else does not hold of it. */
export async function takeExecution(
  { executions }: Collections,
  which: MongoDocument,
  field: DueField,
  { owner, leaseMs, overdueMs }: CheckedClaim,
): Promise<Stored | null> {
  const until = { $add: [now, leaseMs] };
  // who still holds it was lost
  const crashed = { $cond: [{ $eq: ["$owner", null] }, crashesBefore, { $add: [crashesBefore, 1] }] };
  const held = { owner: literal(owner), fence: { $add: ["$fence", 1] }, leaseUntil: until, [field]: until };
  const filter = { ...which, [field]: { $gte: 0 }, $expr: isDue(overdueMs, `$${field}`) };
  const update = [{ $set: { ...held, crashes: crashed } }];
  return (await executions.findOneAndUpdate(filter, update, returning)) as unknown as Stored | null;
}

/** What was claimed. Null if it is damaged: it stays claimed, so that it is not tried again and again. */
export async function claimedOf(collections: Collections, stored: Stored, { owner, leaseMs }: CheckedClaim): Promise<Claimed | null> {
  const { _id: workflowId, incarnation, fence, leaseUntil, crashes = 0 } = stored;
  try {
    // of one whose children changed meanwhile: what is there now
    const snapshot = (await snapshotAt(collections, stored)) ?? (await loadSnapshot(collections, workflowId));
    if (snapshot?.incarnation !== incarnation) return null;
    return { claim: { workflowId, incarnation, owner, leaseMs, fence, claimedAt: leaseUntil! - leaseMs, crashes }, snapshot };
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED")) return null;
    throw error;
  }
}
