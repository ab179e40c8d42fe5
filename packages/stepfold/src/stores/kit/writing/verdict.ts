import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal, type Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, Commit, Lease } from "../../../ports/snapshot-store.ts";
import type { WrittenCommit } from "./written-commit.ts";

/** The columns of a stored execution that guard its writes. */
export interface Guard {
  readonly incarnation: string;
  readonly version: number;
  readonly sizeBytes: number;
  readonly status: Status;
  /** Null: not held. */
  readonly owner: string | null;
  /** The fence of the last claim. */
  readonly fence: number;
}

/**
 * Says why a commit was not made because its condition did not hold. `applied`: the commit was made before, and is acknowledged.
 * `allowed`: by now nothing is against the commit, so it can be tried again. Else the error to throw.
 *
 * @param stored the stored execution; null if there is none
 * @param writer id of the commit that wrote the last version of this commit, if there is one
 */
export function commitVerdict(commit: WrittenCommit, stored: Guard | null, writer: string | null): StepfoldError | "applied" | "allowed" {
  const { workflowId, incarnation, expectedVersion, fence, commitId } = commit;
  if (stored?.incarnation !== incarnation) {
    return new StepfoldError("VERSION_CONFLICT", { workflowId, expected: expectedVersion, actual: null });
  }
  if (writer === commitId) return "applied";
  const isHolder = fence === null || (stored.owner !== null && stored.fence === fence);
  if (!isHolder) return new StepfoldError("FENCE_LOST", { workflowId });
  if (stored.version !== expectedVersion) {
    return new StepfoldError("VERSION_CONFLICT", { workflowId, expected: expectedVersion, actual: stored.version });
  }
  const { status } = stored;
  if (isTerminal(status) === commit.reopens) return "allowed";
  return new StepfoldError(commit.reopens ? "EXECUTION_OPEN" : "EXECUTION_ENDED", { workflowId, status });
}

/**
 * Returns the answer to a `create` whose id exists already: for a repetition of the same commit, its claim if it is still in force.
 *
 * @param writer id of the commit that wrote version 0
 * @param claimedAt when the stored claim was made or last renewed, by the store's clock
 * @throws StepfoldError `WORKFLOW_EXISTS`
 */
export function repeatedCreation(
  { workflowId, commitId }: Pick<Commit, "workflowId" | "commitId">,
  { incarnation, version, sizeBytes, owner, fence }: Guard,
  writer: string | null,
  lease: Lease | undefined,
  claimedAt: EpochMs,
): Claim | null {
  if (writer !== commitId) throw new StepfoldError("WORKFLOW_EXISTS", { workflowId });
  const isHeld = lease !== undefined && owner === lease.owner && fence === 1;
  return isHeld
    ? { workflowId, incarnation, version, sizeBytes, owner, leaseMs: lease.leaseMs, fence, claimedAt, expired: 0, crashes: 0 }
    : null;
}

/**
 * Answers a renewal that changed nothing. If the execution has ended, which ends its claim, its last holder gets the stored status.
 *
 * @throws StepfoldError `FENCE_LOST` in all other cases
 */
export function endedClaim({ workflowId, incarnation, fence }: Claim, stored: Guard | null): Guard {
  if (stored?.incarnation === incarnation && stored.fence === fence && isTerminal(stored.status)) return stored;
  throw new StepfoldError("FENCE_LOST", { workflowId });
}

/**
 * Answers a release that changed nothing. Does nothing if the claim is no longer in force.
 *
 * @throws StepfoldError `VERSION_CONFLICT` if the claim is in force, so the execution was changed after `version`
 */
export function keptClaim({ workflowId, incarnation, fence }: Claim, version: number, stored: Guard | null): void {
  if (stored?.incarnation !== incarnation || stored.fence !== fence || stored.owner === null) return;
  throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected: version, actual: stored.version });
}

/** Null: there is no execution. @throws StepfoldError `WORKFLOW_NOT_FOUND`, or `EXECUTION_OPEN` if the status is not terminal */
export function refuseDelete(workflowId: string, status: Status | null): void {
  if (status === null) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
  if (!isTerminal(status)) throw new StepfoldError("EXECUTION_OPEN", { workflowId, status });
}
