import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import { isTerminal, type Status } from "../../../core/snapshot/snapshot.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, Commit, Lease } from "../../../ports/snapshot-store.ts";
import type { WrittenCommit } from "./written-commit.ts";

/** What of a stored execution guards its writes. */
export interface Guard {
  readonly incarnation: string;
  readonly version: number;
  readonly sizeBytes: number;
  readonly status: Status;
  /** Null when nobody holds it. */
  readonly owner: string | null;
  /** Of the last claim. */
  readonly fence: number;
}

/**
 * Why a commit whose condition did not hold was not made: `applied` if it had been made before, which is to be acknowledged;
 * `allowed` if nothing speaks against it any more.
 *
 * @param stored what is there; null if nothing is
 * @param writer id of the commit that wrote the version after `expectedVersion`, if there is one
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
  return isTerminal(stored.status) ? new StepfoldError("EXECUTION_ENDED", { workflowId, status: stored.status }) : "allowed";
}

/**
 * The answer to a `create` whose id is there: the claim once more if it was this very commit.
 *
 * @param writer id of the commit that wrote version 0
 * @param claimedAt when the claim that is stored began, by the store's clock
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
 * Whether what is stored answers a renewal that changed nothing: the end of an execution ends its claim, and its last
 * holder is told by the status.
 *
 * @throws StepfoldError `FENCE_LOST`
 */
export function endedClaim({ workflowId, incarnation, fence }: Claim, stored: Guard | null): Guard {
  if (stored?.incarnation === incarnation && stored.fence === fence && isTerminal(stored.status)) return stored;
  throw new StepfoldError("FENCE_LOST", { workflowId });
}

/**
 * Whether a release that changed nothing is one of a claim that is no longer held, which is given back already.
 *
 * @throws StepfoldError `VERSION_CONFLICT` if the claim is held, and somebody committed since
 */
export function keptClaim({ workflowId, incarnation, fence }: Claim, version: number, stored: Guard | null): void {
  if (stored?.incarnation !== incarnation || stored.fence !== fence || stored.owner === null) return;
  throw new StepfoldError("VERSION_CONFLICT", { workflowId, expected: version, actual: stored.version });
}

/** Why an execution cannot be deleted, if it cannot. */
export function refuseDelete(workflowId: string, status: Status | null): void {
  if (status === null) throw new StepfoldError("WORKFLOW_NOT_FOUND", { workflowId });
  if (!isTerminal(status)) throw new StepfoldError("EXECUTION_OPEN", { workflowId, status });
}
