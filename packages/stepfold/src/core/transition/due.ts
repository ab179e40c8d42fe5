import type { ResumedEvent, TimedOutEvent } from "../snapshot/event.ts";
import type { Wait } from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";
import type { Draft, ScopeDraft } from "./draft/draft.ts";
import { isChild } from "./draft/draft.ts";
import type { DraftPath } from "./draft/draft-path.ts";
import { scopeAt } from "./draft/open-draft.ts";
import { rests } from "./draft/parking.ts";

interface Due {
  readonly scope: ScopeDraft;
  readonly path: DraftPath;
  readonly wait: Wait;
  readonly at: EpochMs;
  readonly late: boolean;
}

/** Whether any path waits for a time. If none does, the clock need not be read. */
export function hasTimer({ paths, timers }: Draft): boolean {
  return paths.some(({ waits }) => waits) || timers.first() !== null;
}

/**
 * The event of the timer that came first, if one is due; null if none is.
 *
 * Of a wait's two times the earlier wins, on a tie the timeout.
 */
export function due(draft: Draft, now: EpochMs): ResumedEvent | TimedOutEvent | null {
  if (rests(draft, now)) return null;
  let first = dueIn(draft, now, null);
  const child = draft.timers.first();
  if (child && child.at <= now) first = dueIn(scopeAt(draft, child.key)!, now, first);
  if (!first) return null;
  const { scope, path, wait, late } = first;
  const stamp = { version: draft.version + 1, at: now, ...(isChild(scope) && { scope: scope.key }), pathId: path.id, waitId: wait.id };
  return late ? timedOut(scope, path, stamp) : { type: "resumed", ...stamp, by: "timer" };
}

function dueIn(scope: ScopeDraft, now: EpochMs, before: Due | null): Due | null {
  let first = before;
  for (const path of scope.paths) {
    for (const wait of path.waits ?? []) {
      const { resumeAt = Number.POSITIVE_INFINITY, timeoutAt = Number.POSITIVE_INFINITY } = wait;
      const at = Math.min(resumeAt, timeoutAt);
      if (at <= now && (!first || at < first.at)) first = { scope, path, wait, at, late: timeoutAt <= resumeAt };
    }
  }
  return first;
}

function timedOut(
  { workflow }: ScopeDraft,
  { nodeId, attempts, undoes }: DraftPath,
  stamp: Pick<TimedOutEvent, "version" | "at" | "scope" | "pathId" | "waitId">,
): TimedOutEvent {
  const error = Object.freeze({ name: "Timeout", code: "WAIT_TIMEOUT", message: `Node "${nodeId}" was not answered in time`, nodeId });
  const event = { type: "timedOut" as const, ...stamp, nodeId, attempt: attempts + 1, error };
  if (undoes) return { ...event, undoes };
  const { edges } = workflow.nodes.get(nodeId)!;
  if (edges.has("timeout")) return { ...event, handle: "timeout" };
  return edges.has("error") ? { ...event, handle: "error" } : event;
}
