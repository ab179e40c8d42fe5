import { type EpochMs, type Snapshot, StepfoldError } from "stepfold";
import { countdownText } from "stepfold/core";
import type { Run } from "stepfold/runtime";
import { canRunNow, hasNothingToWaitFor } from "../execution/status.ts";
import type { Progress } from "../progress/progress.ts";
import type { Interruption } from "./interruption.ts";
import { othersRunning } from "./others-running.ts";
import type { Session } from "./session.ts";

/** The interval at which delays are looked for, and the other executions that this one waits for. */
const lookMs = 250;

/** The state in which an execution was left. */
export interface Followed {
  readonly snapshot: Snapshot;
  /** Time of the last event that was shown; null if none was. */
  readonly at: EpochMs | null;
  /** The exit code of the signal (Ctrl-C, SIGTERM) that ended the command; null if the execution ended or paused by itself. */
  readonly interrupted: number | null;
}

/**
 * Shows the events of an execution until it has ended, until only somebody outside can move it, or until the command is interrupted.
 *
 * @param after the last version that is not shown; -1 to show all
 */
export async function follow(run: Run, after: number, session: Session, progress: Progress, interruption: Interruption): Promise<Followed> {
  let snapshot = await run.snapshot();
  let at: EpochMs | null = null;
  /** True if only other executions can move this one. */
  let onOthers = false;
  const isOver = async (): Promise<boolean> => {
    // the execution may have moved on meanwhile, if another process drives it too
    const isStill = hasNothingToWaitFor(snapshot, session.now()) && (await run.snapshot()).version === snapshot.version;
    onOthers = isStill && (await othersRunning(snapshot, session));
    return isStill && !onOthers;
  };
  if (snapshot.version === after && (await isOver())) return { snapshot, at, interrupted: null };
  const stopLooking = noteDelays(() => snapshot, session, progress);
  const drained = interruption.asked.then(async (code) => {
    await session.runtime.close();
    return code;
  });
  const events = run.watch({ after });
  let next: ReturnType<typeof events.next> | null = null;
  try {
    for (;;) {
      next ??= events.next();
      // an interruption closes the runtime: then no more events come, and `drained` gives the exit code
      const event = next.catch((error: unknown) => {
        if (StepfoldError.is(error, "RUNTIME_CLOSED")) return drained;
        throw error;
      });
      event.catch(() => undefined);
      const found = await Promise.race([event, drained, session.failure, ...(onOthers ? [shortDelay()] : [])]);
      if (found === null) {
        if (await isOver()) return { snapshot, at, interrupted: null };
        continue;
      }
      if (typeof found === "number") {
        snapshot = await run.snapshot();
        return { snapshot, at, interrupted: hasNothingToWaitFor(snapshot, session.now()) ? null : found };
      }
      next = null;
      if (found.done) return { snapshot: await run.snapshot(), at, interrupted: null };
      ({ snapshot } = found.value);
      at = found.value.event.at;
      progress.event(found.value.event, snapshot);
      if (await isOver()) return { snapshot, at, interrupted: null };
    }
  } finally {
    stopLooking();
  }
}

/** Resolves when the other executions have to be looked at again. */
function shortDelay(): Promise<null> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(null), lookMs);
  });
}

/** Prints one note if the execution is due but this process cannot claim it, and one for each outage of the database. */
function noteDelays(snapshot: () => Snapshot, { couldNotClaim, outageReason, leaseMs, now }: Session, progress: Progress): () => void {
  let noted = false;
  let troubled = false;
  const timer = setInterval(() => {
    const reason = outageReason();
    if (reason !== null && !troubled) progress.note(`${reason}. Nothing is lost; trying again`);
    troubled = reason !== null;
    if (noted || !couldNotClaim() || !canRunNow(snapshot(), now() - lookMs)) return;
    noted = true;
    progress.note(`another process has this execution; if that was killed, this one goes on in at most ${countdownText(leaseMs)}`);
  }, lookMs);
  return () => clearInterval(timer);
}
