import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { Event, StartedEvent } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { begin } from "./begin.ts";
import { closeDraft } from "./draft/close-draft.ts";
import type { Draft } from "./draft/draft.ts";
import { openDraft } from "./draft/open-draft.ts";
import { evolve } from "./evolve.ts";
import { restartRun } from "./restart-run.ts";

/**
 * Returns the snapshot after an event. The function is pure: the same arguments give the same result, and no argument is changed.
 *
 * If the event does not apply, the result is the same snapshot object: for example if its version is not the next one, if its task or wait
 * is not current any more, or if the execution has ended.
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
 * Returns the snapshot that follows from a whole history, for example for a replay or an audit.
 *
 * @param events all events from the first one (`started`), in order and without a gap
 */
export function fold(workflow: CompiledWorkflow, events: readonly [StartedEvent, ...Event[]]): Snapshot {
  const [started, ...rest] = events;
  let draft = begin(workflow, started);
  for (const event of rest) draft = next(draft, event, workflow);
  return closeDraft(draft);
}

/** Returns the draft after an event: usually the same one, and a new one if the execution was restarted. */
export function next(draft: Draft, event: Event, workflow: CompiledWorkflow = draft.workflow): Draft {
  if (event.type === "restarted" && draft.ended && event.version === draft.version + 1)
    return restartRun(workflow, closeDraft(draft), event);
  evolve(draft, event, workflow);
  return draft;
}
