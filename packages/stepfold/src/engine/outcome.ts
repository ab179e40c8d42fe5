import type { CompletedEvent, Event, FailedEvent, SuspendedEvent } from "../core/event.ts";
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
  const { startedAt, endedAt: at } = outcome;
  switch (outcome.type) {
    case "completed": {
      const event: CompletedEvent = {
        type: "completed",
        version,
        at,
        pathId,
        turn,
        nodeId,
        attempt,
        startedAt,
        output: outcome.output,
        sizeBytes: outcome.sizeBytes,
      };
      return outcome.handles ? { ...event, handles: outcome.handles } : event;
    }
    case "failed": {
      const event: FailedEvent = {
        type: "failed",
        version,
        at,
        pathId,
        turn,
        nodeId,
        attempt,
        startedAt,
        error: outcome.error,
        retryAt: outcome.retryAt,
        sizeBytes: outcome.sizeBytes,
      };
      return outcome.handle ? { ...event, handle: outcome.handle } : event;
    }
    case "suspended":
      return {
        type: "suspended",
        version,
        at,
        pathId,
        turn,
        nodeId,
        attempt,
        startedAt,
        waits: outcome.waits,
        sizeBytes: outcome.sizeBytes,
      } satisfies SuspendedEvent;
  }
}
