import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { RestartedEvent } from "../snapshot/event.ts";
import type { Context, Snapshot } from "../snapshot/snapshot.ts";
import { close } from "./close.ts";
import type { Draft } from "./draft/draft.ts";
import { historyBytesOf } from "./draft/held-size.ts";
import { openDraft } from "./draft/open-draft.ts";
import { enqueueEnd, enqueueReopened } from "./draft/outbox.ts";
import { settle } from "./settle.ts";

/** Returns the draft of an execution after its event `restarted`. @param ended the execution as it ended: failed or cancelled */
export function restartRun(workflow: CompiledWorkflow, ended: Snapshot, event: RestartedEvent): Draft {
  const { activePaths: _, error: __, ending: ___, output: ____, currentNodeId: _____, deadlineAt: ______, ...kept } = ended;
  const { state, since, dropsCompensations, definition, deadlineAt, deadlineGiven, version, at } = event;
  const { compensations: undone, deadlineGiven: _7, outbox: _8, closing: _9, variables, ...rest } = kept;
  const values = since === undefined ? variables : state.variables;
  const draft = openDraft(workflow, {
    ...rest,
    ...state,
    definition,
    status: "active",
    currentNodeId: state.activePaths[0]?.nodeId ?? null,
    childStates: state.childStates ?? {},
    context: since === undefined ? ended.context : contextUntil(ended.context, since),
    ...(values && { variables: values }),
    ...(undone && !dropsCompensations && { compensations: undone }),
    ...(deadlineAt !== undefined && { deadlineAt }),
    ...(deadlineGiven && { deadlineGiven }),
  });
  draft.restarts++;
  // the commit writes all children and all waits, which an ended execution has not
  for (const key of draft.children.keys()) draft.changed.add(key);
  draft.listedWaits = null;
  draft.historyBytes += historyBytesOf(event);
  enqueueReopened(draft);
  settle(draft, at);
  if (draft.ended && (draft.closing || workflow.finally)) close(draft, at);
  enqueueEnd(draft);
  draft.version = version;
  return draft;
}

function contextUntil(context: Context, since: number): Context {
  const kept = Object.entries(context).map(([nodeId, results]) => [nodeId, results.filter(({ version }) => version <= since)] as const);
  return Object.fromEntries(kept.filter(([, results]) => results.length > 0));
}
