import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { Event, StartedEvent } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { begin } from "./begin.ts";
import { closeDraft } from "./draft/close-draft.ts";
import { openDraft } from "./draft/open-draft.ts";
import { evolve } from "./evolve.ts";

/**
 * The snapshot after an event. Pure: the same arguments give the same result, and neither is changed.
 *
 * An event that does not follow (another version than the next, a task or wait that is not current, an execution
 * that has ended) gives the very snapshot that was passed in.
 *
 * ```ts
 * const next = apply(workflow, snapshot, { type: "cancelled", version: snapshot.version + 1, at: 0 });
 * next.status; // "cancelled"
 * ```
 */
export function apply(workflow: CompiledWorkflow, snapshot: Snapshot, event: Event): Snapshot {
  const draft = openDraft(workflow, snapshot);
  return evolve(draft, event) ? closeDraft(draft) : snapshot;
}

/**
 * The snapshot that a whole history adds up to: replay, time travel, audits.
 *
 * @param events from the first (`started`) on, in order and without a gap
 */
export function fold(workflow: CompiledWorkflow, events: readonly [StartedEvent, ...Event[]]): Snapshot {
  const [started, ...rest] = events;
  const draft = begin(workflow, started);
  for (const event of rest) evolve(draft, event);
  return closeDraft(draft);
}
