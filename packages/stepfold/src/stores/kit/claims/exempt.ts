import type { SnapshotHead } from "../../../core/snapshot/snapshot.ts";
import { isTerminal } from "../../../core/snapshot/snapshot.ts";
import { deadlineIn } from "../../../core/transition/draft/draft-status.ts";
import type { EpochMs } from "../../../core/values/json.ts";
import type { ExecutionGuard } from "../execution-table.ts";
import { isDue } from "./guard.ts";

/**
 * Returns from when an execution with a concurrency key may be claimed without a permit, however many others are held. Only steps need a
 * permit: messages are delivered at once, and a deadline ends what still waits in the line. Null: never.
 */
export function exemptAtOf({ status, parked, outbox, ...scope }: SnapshotHead): EpochMs | null {
  if (isTerminal(status) || parked) return null;
  if (outbox !== undefined && outbox.length > 0) return 0;
  const deadlineAt = deadlineIn(scope);
  return deadlineAt === Number.POSITIVE_INFINITY ? null : deadlineAt;
}

/** Returns true if an execution is due, and may be claimed without a permit. */
export function isExempt(guard: ExecutionGuard, now: EpochMs, overdueMs: number): boolean {
  return guard.exemptAt !== null && guard.exemptAt <= Math.max(0, now - overdueMs) && isDue(guard, now, overdueMs);
}
