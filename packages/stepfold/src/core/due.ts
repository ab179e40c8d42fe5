import type { CompiledWorkflow } from "./compiled.ts";
import type { ResumedEvent, TimedOutEvent } from "./event.ts";
import type { EpochMs } from "./json.ts";
import type { Wait } from "./snapshot.ts";

/** What `due` reads of a path; drafts have it too. */
interface WaitingPath {
  readonly id: string;
  readonly nodeId: string;
  readonly attempts: number;
  readonly waits?: readonly Wait[] | undefined;
}

/**
 * The event of the timer that came first, if one is due; null if none is.
 *
 * Of a wait's two times the earlier wins, on a tie the timeout.
 */
export function due(
  workflow: CompiledWorkflow,
  paths: readonly WaitingPath[],
  version: number,
  now: EpochMs,
): ResumedEvent | TimedOutEvent | null {
  let first: { path: WaitingPath; wait: Wait; at: EpochMs; late: boolean } | null = null;
  for (const path of paths) {
    for (const wait of path.waits ?? []) {
      const { resumeAt = Number.POSITIVE_INFINITY, timeoutAt = Number.POSITIVE_INFINITY } = wait;
      const at = Math.min(resumeAt, timeoutAt);
      if (at <= now && (!first || at < first.at)) first = { path, wait, at, late: timeoutAt <= resumeAt };
    }
  }
  if (!first) return null;
  const { path, wait, late } = first;
  const stamp = { version: version + 1, at: now, pathId: path.id, waitId: wait.id };
  return late ? timedOut(workflow, path, stamp) : { type: "resumed", ...stamp, by: "timer" };
}

function timedOut(
  workflow: CompiledWorkflow,
  { nodeId, attempts }: WaitingPath,
  stamp: Pick<TimedOutEvent, "version" | "at" | "pathId" | "waitId">,
): TimedOutEvent {
  const { edges } = workflow.nodes.get(nodeId)!;
  const error = Object.freeze({ name: "Timeout", code: "WAIT_TIMEOUT", message: `Node "${nodeId}" was not answered in time`, nodeId });
  const event = { type: "timedOut" as const, ...stamp, nodeId, attempt: attempts + 1, error };
  if (edges.has("timeout")) return { ...event, handle: "timeout" };
  return edges.has("error") ? { ...event, handle: "error" } : event;
}
