import type { EpochMs, Snapshot } from "stepfold";
import type { Run } from "stepfold/runtime";
import type { Interruption } from "./interruption.ts";
import { countdownText } from "./progress/duration-text.ts";
import type { Progress } from "./progress/progress.ts";
import type { Session } from "./session.ts";
import { isDue, stands } from "./standing.ts";

const lookMs = 250;

/** How far an execution was followed. */
export interface Followed {
  readonly snapshot: Snapshot;
  /** Time of the last event; null if there was none. */
  readonly at: EpochMs | null;
  /** The exit code of the signal that ended it; null if it came to a stand by itself. */
  readonly interrupted: number | null;
}

/**
 * Shows what happens until there is nothing to wait for but people, or until the command is interrupted.
 *
 * @param after the last version that need not be shown
 */
export async function follow(run: Run, after: number, session: Session, progress: Progress, interruption: Interruption): Promise<Followed> {
  let snapshot = await run.snapshot();
  let at: EpochMs | null = null;
  if (snapshot.version === after && stands(snapshot, Date.now())) return { snapshot, at, interrupted: null };
  const stopLooking = noteDelays(() => snapshot, session, progress);
  const drained = interruption.asked.then(async (code) => {
    await session.runtime.close();
    return code;
  });
  const events = run.watch({ after });
  try {
    for (;;) {
      const next = events.next();
      next.catch(() => undefined);
      const found = await Promise.race([next, drained, session.failure]);
      if (typeof found === "number") {
        snapshot = await run.snapshot();
        return { snapshot, at, interrupted: stands(snapshot, Date.now()) ? null : found };
      }
      if (found.done) return { snapshot: await run.snapshot(), at, interrupted: null };
      ({ snapshot } = found.value);
      at = found.value.event.at;
      progress.event(found.value.event, snapshot);
      // it may have moved on since, if others move it too
      if (stands(snapshot, Date.now()) && (await run.snapshot()).version === snapshot.version) return { snapshot, at, interrupted: null };
    }
  } finally {
    stopLooking();
  }
}

/** Says so once when the execution is due and this process does not get it, and once when the database does not answer. */
function noteDelays(snapshot: () => Snapshot, { refused, trouble, leaseMs }: Session, progress: Progress): () => void {
  let noted = false;
  let troubled = false;
  const timer = setInterval(() => {
    const reason = trouble();
    if (reason !== null && !troubled) progress.note(`${reason}. Nothing is lost; trying again`);
    troubled = reason !== null;
    if (noted || !refused() || !isDue(snapshot(), Date.now() - lookMs)) return;
    noted = true;
    progress.note(`another process has this execution; if that was killed, this one goes on in at most ${countdownText(leaseMs)}`);
  }, lookMs);
  return () => clearInterval(timer);
}
