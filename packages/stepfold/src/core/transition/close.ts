import type { EpochMs } from "../values/json.ts";
import type { Draft } from "./draft/draft.ts";
import { firstPath } from "./draft/draft-path.ts";
import { enter } from "./paths/leave.ts";
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
