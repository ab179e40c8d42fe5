import { isTerminal, type SnapshotHead } from "../core/snapshot/snapshot.ts";
import { deadlineIn } from "../core/transition/draft/draft-status.ts";
import type { EpochMs } from "../core/values/json.ts";

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
