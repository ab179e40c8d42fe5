import { StepfoldError } from "../../../core/errors/stepfold-error.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { Claimed, Lease } from "../../../ports/snapshot-store.ts";
import type { ExecutionGuard, ExecutionTable } from "../execution-table.ts";
import { restoredSnapshot, type StoredRows } from "../restored-snapshot.ts";
import type { RowWriter } from "../writing/row-writer.ts";
import { claimOf } from "../writing/row-writes.ts";
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
  return { claimed: await claimedWithSnapshots(table, held, lease), missed };
}

/** What was claimed, loaded if it is not known. What is damaged stays claimed until its lease ends, so that it is not tried again and again. */
export async function claimedWithSnapshots(
  table: ExecutionTable,
  held: readonly HeldExecution[],
  { owner, leaseMs }: Lease,
  known: ReadonlyMap<string, StoredRows> = new Map(),
): Promise<Claimed[]> {
  const missing = held.flatMap(({ guard: { id } }) => (known.has(id) ? [] : [id]));
  const rows = missing.length === 0 ? known : new Map([...known, ...(await table.load(missing))]);
  return held.flatMap(({ guard: { id: workflowId, incarnation, fence, crashes }, claimedAt }) => {
    const stored = rows.get(workflowId);
    if (!stored) return [];
    try {
      const snapshot = restoredSnapshot(table.name, stored);
      if (snapshot.incarnation !== incarnation) return [];
      return [{ claim: { workflowId, incarnation, owner, leaseMs, fence, claimedAt, crashes }, snapshot }];
    } catch (error) {
      if (StepfoldError.is(error, "STORE_REJECTED")) return [];
      throw error;
    }
  });
}
