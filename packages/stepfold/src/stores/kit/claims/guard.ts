import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionGuard } from "../execution-table.ts";
import { waitsForRate } from "./rate-key.ts";

/** Null for a tombstone, and where there is no row. */
export function liveGuard(guard: ExecutionGuard | undefined): ExecutionGuard | null {
  return guard && guard.deletedAt === null ? guard : null;
}

/** Whether an execution may be claimed, and is due for at least so long. */
export function isDue({ wakeAt, dueAt, owner, deletedAt }: ExecutionGuard, now: EpochMs, overdueMs: number): boolean {
  if (dueAt === null || deletedAt !== null) return false;
  // what is due at once is due whatever the clock says
  const isDueAtOnce = owner === null && wakeAt !== null && wakeAt <= 0;
  return (isDueAtOnce && overdueMs === 0) || dueAt <= now - overdueMs;
}

/** The count of `claim-count.ts` when the holder of an execution is replaced: one more if it is still held, because that claim ran out. */
export function crashesAfter({ owner, crashes }: ExecutionGuard): number {
  return owner === null || waitsForRate({ owner }) ? crashes : crashes + 1;
}

/** An execution that is to be claimed, as it was read: once anybody has claimed it, its fence is another. */
export function attemptOf({ id, fence }: ExecutionGuard): string {
  return `${fence} ${id}`;
}
