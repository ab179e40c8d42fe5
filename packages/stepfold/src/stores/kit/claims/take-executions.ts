import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, Lease } from "../../../ports/snapshot-store.ts";
import type { ExecutionGuard } from "../execution-table.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { claimOf } from "../writing/row-writes.ts";
import { countsIn } from "./claim-count.ts";
import { fenceStep } from "./fence.ts";
import { crashesAfter } from "./guard.ts";

/** An execution that is to be claimed, as it was read, and the fence that the claim is to have. */
export interface PlannedClaim {
  readonly guard: ExecutionGuard;
  readonly fence: number;
}

/** What became of executions that were to be claimed. */
export interface Taken {
  readonly claimed: readonly Claim[];
  /** Others were first. */
  readonly missed: readonly PlannedClaim[];
}

/** An execution as it is after it was claimed, and when that was by the store's clock. */
export interface HeldExecution {
  readonly guard: ExecutionGuard;
  readonly claimedAt: EpochMs;
}

export function plannedClaim(guard: ExecutionGuard): PlannedClaim {
  return { guard, fence: guard.fence + fenceStep() };
}

/**
 * Claims executions as they were read: those that no other process has claimed since.
 *
 * @param skipLocked a row that another transaction has locked is passed over, so that it holds up no other execution
 */
export async function takeExecutions(
  writer: RowWriter,
  wanted: readonly PlannedClaim[],
  lease: Lease,
  skipLocked: boolean,
): Promise<Taken> {
  const written = await Promise.all(wanted.map(({ guard, fence }) => writer.write(claimOf(guard, fence, lease, skipLocked))));
  const held: HeldExecution[] = [];
  const missed: PlannedClaim[] = [];
  for (const [index, planned] of wanted.entries()) {
    const made = written[index];
    const { guard, fence } = planned;
    // somebody without a claim may have committed since it was read
    if (made) held.push({ guard: { ...guard, version: made.version, fence, crashes: crashesAfter(guard) }, claimedAt: made.now });
    else missed.push(planned);
  }
  return { claimed: held.map((one) => claimOn(one, lease)), missed };
}

/** The claim of what is held now. */
export function claimOn({ guard, claimedAt }: HeldExecution, { owner, leaseMs }: Lease): Claim {
  const { id: workflowId, incarnation, version, sizeBytes, fence } = guard;
  const counts = countsIn(guard.crashes);
  const isAlone = counts.expired - counts.crashes >= maxLost;
  return { workflowId, incarnation, version, sizeBytes, owner, leaseMs, fence, claimedAt, ...counts, ...(isAlone && { alone: true }) };
}

/** Claims that ran out before they began, after which an execution is begun alone. */
const maxLost = 2;
