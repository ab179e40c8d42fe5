import { type ActivePath, type EpochMs, isTerminal, openWaits, type Snapshot } from "stepfold";

/** A timer that is nearer than this is waited for, although somebody could answer meanwhile. */
const soonMs = 60_000;

/** Whether there is nothing to wait for but people: it has ended, or waits for an answer and nothing else moves soon. */
export function stands(snapshot: Snapshot, now: EpochMs): boolean {
  if (isTerminal(snapshot.status)) return true;
  if (openWaits(snapshot).length === 0) return false;
  return snapshot.activePaths.every((path) => path.status !== "ready" && nextMove(path) > now + (isAnswerable(path) ? 0 : soonMs));
}

/** Whether a step could run now. */
export function isDue({ activePaths }: Snapshot, now: EpochMs): boolean {
  return activePaths.some((path) => path.status === "ready" || nextMove(path) <= now);
}

/** When a path moves without help; infinity for never. */
export function nextMove({ nextRetryAt, waits = [] }: ActivePath): EpochMs {
  const moments = [nextRetryAt, ...waits.flatMap(({ resumeAt, timeoutAt }) => [resumeAt, timeoutAt])];
  return Math.min(...moments.filter((at) => at !== undefined));
}

function isAnswerable({ waits = [] }: ActivePath): boolean {
  return waits.some(({ kind }) => kind === "external");
}
