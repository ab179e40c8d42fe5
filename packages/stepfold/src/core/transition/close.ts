import type { EpochMs } from "../values/json.ts";
import type { Draft } from "./draft/draft.ts";
import { firstPath } from "./draft/draft-path.ts";
import { enqueueEnd } from "./draft/outbox.ts";
import { forgetChildren } from "./paths/end-path.ts";
import { enter } from "./paths/leave.ts";
import { holdOpen } from "./paths/undo.ts";
import { settle } from "./settle.ts";

/** The id of the path that begins at the `finally` node when the end of an execution is decided. */
const lastPathId = "finally";

/** Begins the `finally` nodes of an execution whose end is decided. When they have run, ends the execution as it was decided. */
export function close(draft: Draft, at: EpochMs): void {
  if (!draft.closing) {
    beginClosing(draft, draft.version + 1);
    settle(draft, at);
  }
  if (draft.ended) endClosing(draft);
}

/** Begins the `finally` nodes of an execution whose end was just decided (docs/path-semantics.md, "Endings"). */
function beginClosing(draft: Draft, version: number): void {
  const { workflow, ended, failedNodeId: nodeId, error, output } = draft;
  // the nodes may have run before a restart; ids of waits and idempotency keys must not repeat
  const first = { ...firstPath(workflow.finally!, version), id: draft.restarts > 0 ? `${lastPathId}-${version}` : lastPathId };
  draft.closing = Object.freeze({ status: ended!, nodeId, ...(output !== undefined && { output }), ...(error && { error }) });
  draft.ended = null;
  draft.failedNodeId = null;
  draft.error = undefined;
  draft.output = undefined;
  draft.outputInEvents = undefined;
  draft.groups = null;
  draft.paths = [first];
  draft.endedPathCount++;
  enter(first);
}

/** Ends an execution as it was decided. If it would have completed, but a `finally` node has failed, it fails with that error. */
function endClosing(draft: Draft): void {
  const { status, nodeId, error, output } = draft.closing!;
  draft.closing = undefined;
  draft.outputInEvents = undefined;
  if (status === "completed" && draft.ended === "failed") return;
  draft.ended = status;
  draft.failedNodeId = nodeId;
  draft.error = error;
  draft.output = output;
}

/**
 * Finishes an execution that has just ended. It becomes open again if a compensation failed (see `holdOpen`) or if messages must still be
 * delivered (see `enqueueEnd`).
 *
 * @param givesUp true if failed compensations are not tried again
 */
export function finish(draft: Draft, version: number, givesUp = false): void {
  draft.begun = [];
  const isHeld = !givesUp && draft.compensations.length > 0 && holdOpen(draft, version);
  forgetChildren(draft);
  if (!isHeld) enqueueEnd(draft);
}
