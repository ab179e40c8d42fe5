import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { isTerminal, type Status } from "../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../core/values/json.ts";
import type { Claim, Claimed, Lease } from "../../ports/snapshot-store.ts";
import { type Shelf, setDue } from "./shelf.ts";
import { type Stored, snapshotOf } from "./stored-execution.ts";
import { holds } from "./write-commit.ts";

/** Takes what is due. */
export function claimDue(shelf: Shelf, options: Lease & { readonly limit: number; readonly workflowId?: string }): Claimed[] {
  const now = shelf.now();
  if (options.workflowId !== undefined) {
    const stored = shelf.executions.get(options.workflowId);
    const due = stored !== undefined && stored.dueAt !== null && stored.dueAt <= now && options.limit > 0;
    return due ? [take(shelf, stored, options, now)] : [];
  }
  const claimed: Claimed[] = [];
  while (claimed.length < options.limit) {
    const stored = shelf.due.take(now);
    if (!stored) break;
    claimed.push(take(shelf, stored, options, now));
  }
  return claimed;
}

/** Prolongs a claim. */
export function renewClaim(shelf: Shelf, claim: Claim): { version: number; status: Status; storeNow: EpochMs } {
  const { workflowId, incarnation, fence, leaseMs } = claim;
  const stored = shelf.executions.get(workflowId);
  const now = shelf.now();
  if (stored?.incarnation === incarnation && stored.fence === fence) {
    // the end of an execution ends its claim; the holder is told by the status
    if (isTerminal(stored.status)) return { version: stored.version, status: stored.status, storeNow: now };
    if (holds(stored, fence)) {
      setDue(shelf, stored, now + leaseMs);
      return { version: stored.version, status: stored.status, storeNow: now };
    }
  }
  throw new StepfoldError("FENCE_LOST", { workflowId });
}

/** Gives a claim back. */
export function releaseClaim(shelf: Shelf, { workflowId, incarnation, fence }: Claim, version: number): void {
  const stored = shelf.executions.get(workflowId);
  if (stored?.incarnation !== incarnation || !holds(stored, fence)) return;
  if (stored.version !== version) throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected: version, actual: stored.version });
  stored.owner = null;
  setDue(shelf, stored, stored.wakeAt);
}

function take(shelf: Shelf, stored: Stored, { owner, leaseMs }: Lease, now: EpochMs): Claimed {
  stored.owner = owner;
  stored.fence += 1;
  setDue(shelf, stored, now + leaseMs);
  const claim = { workflowId: stored.id, incarnation: stored.incarnation, owner, leaseMs, fence: stored.fence, claimedAt: now };
  return { claim, snapshot: snapshotOf(stored) };
}
