import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { Checkpoint } from "../snapshot/checkpoint.ts";
import type { StartedEvent } from "../snapshot/event.ts";
import { isLargeIn, largeBytes, referring } from "../snapshot/large-values.ts";
import type { Resumed, Wait } from "../snapshot/parts/wait.ts";
import type { ActivePath } from "../snapshot/snapshot.ts";
import { type Json, sizeOfJson } from "../values/json.ts";
import { waitToBegin } from "./begin-run.ts";
import { close } from "./close.ts";
import { type Draft, newDraft } from "./draft/draft.ts";
import { firstPath } from "./draft/draft-path.ts";
import { historyBytesOf } from "./draft/held-size.ts";
import { openDraft } from "./draft/open-draft.ts";
import { enqueueEnd } from "./draft/outbox.ts";
import { enter } from "./paths/leave.ts";
import { settle } from "./settle.ts";

/** Returns the draft of an execution after its event `started`. */
export function begin(workflow: CompiledWorkflow, event: StartedEvent, onFailure: Draft["onFailure"] = null): Draft {
  return event.checkpoint ? goOn(workflow, event, event.checkpoint) : beginAtNode(workflow, event, onFailure);
}

/** Returns the draft of an execution that goes on from a checkpoint of another execution. */
function goOn(workflow: CompiledWorkflow, event: StartedEvent, { from, state }: Checkpoint): Draft {
  const { workflowId, definition, metadata, at: createdAt, tenant, unnamed, input, incarnation, parent, permit, rate, deadlineAt } = event;
  const draft = openDraft(workflow, {
    ...state,
    ...(incarnation !== undefined && { activePaths: state.activePaths.map(pathAtStart) }),
    ...{ schema: 1, version: 0, workflowId, definition, metadata, createdAt, from },
    ...(tenant !== undefined && { tenant }),
    ...(unnamed && { unnamed }),
    ...(input !== undefined && { input }),
    ...(incarnation !== undefined && { incarnation }),
    ...(parent && { parent }),
    ...(permit && { permit }),
    ...(rate && { rate }),
    ...(event.taskQueue !== undefined && { taskQueue: event.taskQueue }),
    ...(deadlineAt !== undefined && { deadlineAt }),
  });
  draft.givenTime = event.givenTime;
  draft.historyBytes = historyBytesOf(event);
  // the first commit writes all children
  for (const key of draft.children.keys()) draft.changed.add(key);
  return draft;
}

/** Makes a holder refer to the event `started` (version 0), at the place `at`, if its payload is large. */
function referringToStart<H extends Wait>(holder: H, at: string): H {
  return holder.payload !== undefined && sizeOfJson(holder.payload) >= largeBytes ? referring(holder, `0/${at}`, "payload") : holder;
}

function firstPayload(event: StartedEvent, payload: Json): Resumed {
  const resumed: Resumed = { by: "payload", payload };
  return isLargeIn(event, event) ? referring(resumed, "0", "payload") : Object.freeze(resumed);
}

function pathAtStart(path: ActivePath, index: number): ActivePath {
  if (!path.waits) return path;
  const waits = path.waits.map((wait, nth) => referringToStart(wait, `checkpoint/state/activePaths/${index}/waits/${nth}`));
  return { ...path, waits: Object.freeze(waits) };
}

function beginAtNode(workflow: CompiledWorkflow, event: StartedEvent, onFailure: Draft["onFailure"]): Draft {
  const { workflowId, definition, incarnation, nodeId, input, metadata, payload, startAt, at, sizeBytes = 0 } = event;
  const { tenant, unnamed, parent, scheduledBy, permit, rate, taskQueue, deadlineAt } = event;
  const first = firstPath(workflow.nodes.get(nodeId)!, 0);
  if (payload !== undefined) first.resumed = firstPayload(event, payload);
  const draft = newDraft({
    workflow,
    workflowId,
    definition,
    metadata,
    tenant,
    unnamed,
    createdAt: at,
    incarnation,
    parent,
    scheduledBy,
    from: undefined,
    permit,
    rate,
    taskQueue,
    deadlineAt,
    input,
    inputInEvents: undefined,
  });
  draft.onFailure = onFailure;
  draft.givenTime = event.givenTime;
  draft.paths.push(first);
  draft.sizeBytes = sizeBytes;
  draft.historyBytes = historyBytesOf(event);
  enter(first);
  if (startAt !== undefined) waitToBegin(first, startAt, at);
  settle(draft, at);
  if (draft.ended && workflow.finally) close(draft, at);
  enqueueEnd(draft);
  draft.version = 0;
  return draft;
}
