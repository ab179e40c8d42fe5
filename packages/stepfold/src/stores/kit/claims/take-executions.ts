import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, Lease } from "../../../ports/snapshot-store.ts";
import type { ExecutionGuard } from "../execution-rows.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { claimOf } from "../writing/row-writes.ts";
import { countsInColumn } from "./claim-count.ts";
import { fenceStep } from "./fence.ts";
import { crashesAfter } from "./guard.ts";

/** An execution to claim, as it was read, and the fence of the new claim. */
export interface PlannedClaim {
  readonly guard: ExecutionGuard;
  readonly fence: number;
}

/** The result of claiming several executions. */
export interface Taken {
  readonly claimed: readonly Claim[];
  /** Executions that could not be claimed, because they were changed or locked by another process. */
  readonly missed: readonly PlannedClaim[];
}

/** An execution as it is after it was claimed, and the time of the claim by the store's clock. */
export interface HeldExecution {
  readonly guard: ExecutionGuard;
  readonly claimedAt: EpochMs;
}

/** Plans a claim of an execution with the next fence. */
export function plannedClaim(guard: ExecutionGuard): PlannedClaim {
  return { guard, fence: guard.fence + fenceStep() };
}

/**
 * Claims those of the executions that no other process has claimed since they were read.
 *
 * @param skipLocked true: a row that another transaction has locked is passed over, so that it does not delay the others
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
    // a writer without a claim may have committed since the guard was read, so the version comes from the answer
    if (made) held.push({ guard: { ...guard, version: made.version, fence, crashes: crashesAfter(guard) }, claimedAt: made.now });
    else missed.push(planned);
  }
  return { claimed: held.map((one) => claimOn(one, lease)), missed };
}

/** Makes the claim of an execution that is held. */
export function claimOn({ guard, claimedAt }: HeldExecution, { owner, leaseMs }: Lease): Claim {
  const { id: workflowId, incarnation, version, sizeBytes, fence } = guard;
  const counts = countsInColumn(guard.crashes);
  const isAlone = counts.expired - counts.crashes >= maxLost;
  return { workflowId, incarnation, version, sizeBytes, owner, leaseMs, fence, claimedAt, ...counts, ...(isAlone && { alone: true }) };
}

/** If at least this many claims ran out before their holders began, the next claim has `alone`. */
const maxLost = 2;
