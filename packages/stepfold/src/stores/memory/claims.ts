import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed, Lease } from "../../ports/snapshot-store.ts";
import { endedClaim, keptClaim } from "../record/refusal.ts";
import { type Shelf, setDue } from "./shelf.ts";
import { type Stored, snapshotOf } from "./stored-execution.ts";
import { holds } from "./write-commit.ts";

/** Takes what is due. */
export function claimDue(shelf: Shelf, options: Lease & { readonly limit: number; readonly workflowId?: string }): Claimed[] {
  const now = shelf.now();
  const claimed: Claimed[] = [];
  const add = (stored: Stored): void => {
    const one = take(shelf, stored, options, now);
    if (one) claimed.push(one);
  };
  if (options.workflowId !== undefined) {
    const stored = shelf.executions.get(options.workflowId);
    if (stored && stored.dueAt !== null && stored.dueAt <= now) add(stored);
    return claimed;
  }
  while (claimed.length < options.limit) {
    const stored = shelf.due.take(now);
    if (!stored) break;
    add(stored);
  }
  return claimed;
}

/** Prolongs a claim. */
export function renewClaim(shelf: Shelf, claim: Claim): { version: number; status: Status; storeNow: EpochMs } {
  const { workflowId, incarnation, fence, leaseMs } = claim;
  const stored = shelf.executions.get(workflowId);
  const storeNow = shelf.now();
  if (stored?.incarnation === incarnation && holds(stored, fence)) {
    setDue(shelf, stored, storeNow + leaseMs);
    return { version: stored.version, status: stored.status, storeNow };
  }
  const { version, status } = endedClaim(claim, stored ?? null);
  return { version, status, storeNow };
}

/** Gives a claim back. */
export function releaseClaim(shelf: Shelf, claim: Claim, version: number): void {
  const stored = shelf.executions.get(claim.workflowId);
  if (stored?.incarnation !== claim.incarnation || !holds(stored, claim.fence) || stored.version !== version) {
    keptClaim(claim, version, stored ?? null);
    return;
  }
  stored.owner = null;
  setDue(shelf, stored, stored.wakeAt);
}

/** Claims one. Null if what is stored is damaged: it stays claimed until the lease ends, so that it is not tried again and again. */
function take(shelf: Shelf, stored: Stored, { owner, leaseMs }: Lease, now: EpochMs): Claimed | null {
  stored.owner = owner;
  stored.fence += 1;
  setDue(shelf, stored, now + leaseMs);
  const claim = { workflowId: stored.id, incarnation: stored.incarnation, owner, leaseMs, fence: stored.fence, claimedAt: now };
  try {
    return { claim, snapshot: snapshotOf(stored) };
  } catch (error) {
    if (StepfoldError.is(error, "STORE_REJECTED")) return null;
    throw error;
  }
}
