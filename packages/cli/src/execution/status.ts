import { type ActivePath, type EpochMs, isTerminal, type Snapshot } from "stepfold";
import { openPaths } from "stepfold/core";

/** The command waits for a timer or a retry that is due within this time, even if another path waits for an answer. */
const soonMs = 60_000;

/** The fields of a snapshot that say what it waits for. */
type StatusFields = Pick<Snapshot, "status" | "activePaths" | "childStates" | "outbox" | "parked" | "deadlineAt" | "ending" | "closing">;

/**
 * Whether the command has nothing to wait for: the execution has ended, is parked for longer, or waits for something from outside (an
 * answer, a signal, another execution) and nothing else moves soon.
 */
export function hasNothingToWaitFor(snapshot: StatusFields, now: EpochMs): boolean {
  if (isTerminal(snapshot.status)) return true;
  if (snapshot.parked) return snapshot.parked.until === undefined || snapshot.parked.until > now + soonMs;
  if (snapshot.status === "active" || snapshot.outbox || isExpired(snapshot, now)) return false;
  let asks = false;
  for (const { scope, path } of openPaths(snapshot)) {
    const answerable = isAnswerable(path);
    asks ||= answerable;
    if (isReady(snapshot, scope, path) || nextMove(path) <= now + (answerable ? 0 : soonMs)) return false;
  }
  return asks;
}

/** Whether there is something to do now: a step to run, a timer that is due, or a deadline that has passed. */
export function canRunNow(snapshot: StatusFields, now: EpochMs): boolean {
  if (snapshot.parked) return snapshot.parked.until !== undefined && snapshot.parked.until <= now;
  for (const { scope, path } of openPaths(snapshot)) if (isReady(snapshot, scope, path) || nextMove(path) <= now) return true;
  return isExpired(snapshot, now);
}

/** Whether the deadline of the execution has passed, and no process has ended the execution yet. */
function isExpired({ deadlineAt, ending, closing }: StatusFields, now: EpochMs): boolean {
  return deadlineAt !== undefined && deadlineAt <= now && !ending && !closing;
}

/** When a path moves by itself; infinity for never. */
export function nextMove({ nextRetryAt, waits = [] }: Pick<ActivePath, "nextRetryAt" | "waits">): EpochMs {
  const moments = [nextRetryAt, ...waits.flatMap(({ resumeAt, timeoutAt }) => [resumeAt, timeoutAt])];
  return Math.min(...moments.filter((at) => at !== undefined));
}

/** Whether a path can run now. A path in an item that waits for room in its map is ready, but cannot run. */
function isReady({ childStates }: StatusFields, scope: string, { status }: ActivePath): boolean {
  return status === "ready" && childStates?.[scope]?.queued === undefined;
}

/** Whether something else than time can end a wait of the path. */
function isAnswerable({ waits = [] }: ActivePath): boolean {
  return waits.some(({ kind }) => kind !== "timer" && kind !== "children");
}
