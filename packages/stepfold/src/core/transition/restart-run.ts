import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { RestartedEvent } from "../snapshot/event.ts";
import type { Context, Snapshot } from "../snapshot/snapshot.ts";
import type { EpochMs } from "../values/json.ts";
import { close, finish } from "./close.ts";
import type { Draft } from "./draft/draft.ts";
import { countEvent } from "./draft/held-size.ts";
import { openDraft, scopeAt } from "./draft/open-draft.ts";
import { enqueueReopened } from "./draft/outbox.ts";
import { takeKept } from "./paths/signals.ts";
import { settleAll } from "./settle.ts";

/**
 * Returns the draft of an execution after its event `restarted`: it has its results, and the paths, children and waits of the event.
 *
 * @param ended the execution as it ended: failed or cancelled
 */
export function restartRun(
  workflow: CompiledWorkflow,
  ended: Snapshot,
  event: RestartedEvent,
  onFailure: Draft["onFailure"] = null,
): Draft {
  const { state, since, dropsCompensations, definition, deadlineAt, givenTime, version, at } = event;
  const { error: _, ending: __, output: ___, deadlineAt: ____, givenTime: _5, ...kept } = ended;
  const { compensations, variables, ...others } = kept;
  const values = state.variables ?? (since === undefined ? variables : undefined);
  const draft = openDraft(workflow, {
    ...others,
    ...state,
    definition,
    status: "active",
    currentNodeId: state.activePaths[0]?.nodeId ?? null,
    childStates: state.childStates ?? {},
    context: since === undefined ? ended.context : contextUntil(ended.context, since),
    ...(values && { variables: values }),
    ...(compensations && !dropsCompensations && { compensations }),
    ...(deadlineAt !== undefined && { deadlineAt }),
    ...(givenTime && { givenTime }),
  });
  draft.onFailure = onFailure;
  draft.restarts++;
  // the commit writes all children and all waits, because the row of an ended execution has none
  for (const key of draft.children.keys()) draft.changed.add(key);
  draft.listedWaits = null;
  enqueueReopened(draft);
  takeKeptSignals(draft, at);
  settleAll(draft, at);
  if (draft.ended && (draft.closing || workflow.finally)) close(draft, at);
  if (draft.ended) finish(draft, version);
  countEvent(draft, event);
  draft.version = version;
  return draft;
}

/** Gives signals that came while the execution ended to the waits that are open again. */
function takeKeptSignals(draft: Draft, at: EpochMs): void {
  if (draft.inbox.length === 0) return;
  for (const key of ["", ...draft.children.keys()]) for (const path of scopeAt(draft, key)!.paths) takeKept(draft, path, at);
}

/** Returns the results up to a version. */
function contextUntil(context: Context, since: number): Context {
  const kept = Object.entries(context).map(([nodeId, results]) => [nodeId, results.filter(({ version }) => version <= since)] as const);
  return Object.fromEntries(kept.filter(([, results]) => results.length > 0));
}
