import type { CompletedEvent, Event, FailedEvent } from "../core/event.ts";
import type { EpochMs, Json } from "../core/json.ts";
import type { Task } from "../core/plan.ts";
import type { ErrorInfo, Wait } from "../core/snapshot.ts";

interface Timed {
  readonly startedAt: EpochMs;
  readonly endedAt: EpochMs;
}

/** What performing a task gave. */
export type Outcome =
  | (Timed & { readonly type: "completed"; readonly output: Json; readonly sizeBytes: number; readonly handles?: readonly string[] })
  | (Timed & {
      readonly type: "failed";
      readonly sizeBytes: number;
      readonly error: ErrorInfo;
      readonly retryAt: EpochMs | null;
      readonly handle?: "error";
    })
  | (Timed & { readonly type: "suspended"; readonly waits: readonly Wait[]; readonly sizeBytes: number })
  | (Timed & { readonly type: "aborted" });

/** The event that an outcome makes, as the given version. */
export function eventOf(task: Task, outcome: Exclude<Outcome, { type: "aborted" }>, version: number): Event {
  const { pathId, turn, nodeId, attempt } = task;
  const { startedAt, endedAt: at, sizeBytes } = outcome;
  if (outcome.type === "completed") {
    const { output, handles } = outcome;
    // written out, since spreading an object here costs an eighth of a step
    const event: CompletedEvent = { type: "completed", version, at, pathId, turn, nodeId, attempt, startedAt, output, sizeBytes };
    return handles ? { ...event, handles } : event;
  }
  const step = { version, at, pathId, turn, nodeId, attempt, startedAt, sizeBytes };
  if (outcome.type === "suspended") return { type: "suspended", ...step, waits: outcome.waits };
  const event: FailedEvent = { type: "failed", ...step, error: outcome.error, retryAt: outcome.retryAt };
  return outcome.handle ? { ...event, handle: outcome.handle } : event;
}
