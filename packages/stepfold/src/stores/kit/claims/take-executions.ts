import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claim, Claimed, Lease } from "../../../ports/snapshot-store.ts";
import type { ExecutionGuard, ExecutionTable } from "../execution-table.ts";
import { restoredSnapshot, type StoredRows } from "../restored-snapshot.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { claimOf, givenBack } from "../writing/row-writes.ts";
import { countsIn } from "./claim-count.ts";
import { crashesAfter } from "./guard.ts";

/** What became of executions that were to be claimed. */
export interface Taken {
  readonly claimed: readonly Claimed[];
  /** Others were first. */
  readonly missed: readonly ExecutionGuard[];
}

/** An execution as it is after it was claimed, and when that was by the store's clock. */
export interface HeldExecution {
  readonly guard: ExecutionGuard;
  readonly claimedAt: EpochMs;
}

/** Claims executions as they were read: those that no other process has claimed since. */
export async function takeExecutions(
  table: ExecutionTable,
  writer: RowWriter,
  wanted: readonly ExecutionGuard[],
  lease: Lease,
): Promise<Taken> {
  const written = await Promise.all(wanted.map((guard) => writer.write(claimOf(guard, lease))));
  const held: HeldExecution[] = [];
  const missed: ExecutionGuard[] = [];
  for (const [index, guard] of wanted.entries()) {
    const made = written[index];
    if (made) held.push({ guard: { ...guard, fence: guard.fence + 1, crashes: crashesAfter(guard) }, claimedAt: made.now });
    else missed.push(guard);
  }
  return { claimed: await claimedWithSnapshots(table, writer, held, lease), missed };
}

/**
 * What was claimed, loaded if it is not known. What is damaged stays claimed until its lease ends, so that it is not tried again and again.
 *
 * An execution whose claims were lost twice before they began may kill its holder. It is claimed alone: of several such the others
 * are given back.
 */
export async function claimedWithSnapshots(
  table: ExecutionTable,
  writer: RowWriter,
  held: readonly HeldExecution[],
  lease: Lease,
  known: ReadonlyMap<string, StoredRows> = new Map(),
): Promise<Claimed[]> {
  const claims = held.map((one) => claimedAs(one, lease));
  const [first, ...others] = claims.filter(({ alone }) => alone);
  await Promise.all(others.map((claim) => writer.write(givenBack(claim))));
  const kept = claims.filter((claim) => !claim.alone || claim === first);
  const missing = kept.flatMap(({ workflowId }) => (known.has(workflowId) ? [] : [workflowId]));
  const rows = missing.length === 0 ? known : new Map([...known, ...(await table.load(missing))]);
  return kept.flatMap((claim) => {
    const stored = rows.get(claim.workflowId);
    if (!stored) return [];
    try {
      const snapshot = restoredSnapshot(table.name, stored);
      return snapshot.incarnation === claim.incarnation ? [{ claim, snapshot }] : [];
    } catch (error) {
      if (StepfoldError.is(error, "STORE_REJECTED")) return [];
      throw error;
    }
  });
}

function claimedAs({ guard, claimedAt }: HeldExecution, { owner, leaseMs }: Lease): Claim {
  const { id: workflowId, incarnation, fence } = guard;
  const counts = countsIn(guard.crashes);
  const isAlone = counts.expired - counts.crashes >= maxLost;
  return { workflowId, incarnation, owner, leaseMs, fence, claimedAt, ...counts, ...(isAlone && { alone: true }) };
}

/** Claims that ran out before they began, after which an execution is claimed alone. */
const maxLost = 2;
