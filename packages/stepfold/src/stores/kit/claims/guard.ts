import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionGuard } from "../execution-rows.ts";
import { waitsForRate } from "./rate-key.ts";

/** Returns the guard of an execution that exists; null for a tombstone, or if there is no row. */
export function liveGuard(guard: ExecutionGuard | undefined): ExecutionGuard | null {
  return guard && guard.deletedAt === null ? guard : null;
}

/** Returns true if an execution may be claimed, and has been due for at least `overdueMs`. */
export function isDue({ wakeAt, dueAt, owner, deletedAt }: ExecutionGuard, now: EpochMs, overdueMs: number): boolean {
  if (dueAt === null || deletedAt !== null) return false;
  // an execution that is due at once is due whatever the clock says
  const isDueAtOnce = owner === null && wakeAt !== null && wakeAt <= 0;
  return (isDueAtOnce && overdueMs === 0) || dueAt <= now - overdueMs;
}

/** Returns the column `crashes` (see `claim-count.ts`) after a new claim: one more if the row is still held, because that claim ran out. */
export function crashesAfter({ owner, crashes }: ExecutionGuard): number {
  return owner === null || waitsForRate({ owner }) ? crashes : crashes + 1;
}

/** Returns a key for one attempt to claim an execution. It changes with the fence, so with every claim that was made. */
export function attemptOf({ id, fence }: ExecutionGuard): string {
  return `${fence} ${id}`;
}
