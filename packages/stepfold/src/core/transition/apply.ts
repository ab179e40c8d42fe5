import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { Event, StartedEvent } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { begin } from "./begin.ts";
import { draftOfRun } from "./begin-run.ts";
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
  const after = draftAfter(openDraft(workflow, snapshot), event, workflow);
  return after ? closeDraft(after) : snapshot;
}

/**
 * Returns the snapshot that follows from a whole history, for example for a replay or an audit.
 *
 * @param events all events from the first one (`started`), in order; events of earlier runs may be missing
 * @param workflowOf returns the definition with a hash, for runs and restarts that follow another definition than `workflow`
 */
export function fold(
  workflow: CompiledWorkflow,
  events: readonly [StartedEvent, ...Event[]],
  workflowOf: (hash: string) => CompiledWorkflow = () => workflow,
): Snapshot {
  const [started, ...rest] = events;
  let draft = begin(workflow, started);
  for (const event of rest) draft = draftAfter(draft, event, workflowAt(draft, event, workflowOf)) ?? draft;
  return closeDraft(draft);
}

/** Returns the definition that an execution follows after an event. */
export function workflowAt(draft: Draft, event: Event, workflowOf: (hash: string) => CompiledWorkflow): CompiledWorkflow {
  return event.type === "continued" || event.type === "restarted" ? workflowOf(event.definition.hash) : draft.workflow;
}

/**
 * Returns the draft after an event: usually the same one, and a new one if the execution is restarted, or if events before its present run
 * are missing. Null if the event does not apply.
 *
 * @param workflow the definition that the execution follows after the event
 */
export function draftAfter(draft: Draft, event: Event, workflow: CompiledWorkflow): Draft | null {
  if (event.type === "restarted")
    return draft.ended && event.version === draft.version + 1 ? restartRun(workflow, closeDraft(draft), event, draft.onFailure) : null;
  if (event.type === "continued" && event.version > draft.version + 1) return draftOfRun(workflow, draft, event);
  return evolve(draft, event, workflow) ? draft : null;
}
