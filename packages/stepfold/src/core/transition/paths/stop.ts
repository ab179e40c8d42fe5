import type { ErrorInfo } from "../../errors/error-info.ts";
import { belongsTo } from "../../snapshot/child-key.ts";
import type { Ending } from "../../snapshot/snapshot.ts";
import { type ChildDraft, type Draft, isChild, type ScopeDraft } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { childOf } from "../draft/open-draft.ts";
import { endPath } from "./end-path.ts";
import { leave } from "./leave.ts";
import { firstUndo } from "./undo.ts";

/** A path whose node failed goes on by the handle, if the failure has one; otherwise its scope fails. */
export function fail(scope: ScopeDraft, path: DraftPath, error: ErrorInfo, handle: string | undefined, version: number): void {
  if (handle !== undefined) {
    leave(scope, path, [handle], version);
    return;
  }
  if (scope.workflow.definition.onFailure !== "finish") {
    stop(scope, "failed", path.nodeId, error, version);
    return;
  }
  scope.error ??= error;
  scope.failedAt ??= path.nodeId;
  endPath(scope, path, null);
}

/**
 * Ends a scope before its time. Every path of it ends, and every child. Where something can be undone, that comes first
 * (docs/path-semantics.md, "Endings").
 */
export function stop(
  scope: ScopeDraft,
  status: Ending["status"],
  nodeId: string | null,
  failure: ErrorInfo | undefined,
  version: number,
): void {
  // with onFailure "finish" there may have been one before
  const error = failure ?? scope.error;
  const begun = scope.workflow.compensates ? begunIn(scope) : [];
  clear(scope, begun);
  scope.failedAt = nodeId;
  scope.output = undefined;
  scope.error = error;
  scope.ending = Object.freeze(error ? { status, nodeId, error, begun } : { status, nodeId, begun });
  if (firstUndo(scope, version)) return;
  scope.ending = undefined;
  scope.ended = status;
}

/** The scope has come to its end by a node that says so: nothing of it goes on. */
export function terminate(scope: ScopeDraft): void {
  clear(scope, null);
}

function clear(scope: ScopeDraft, begun: Ending["begun"] | null): void {
  for (const path of [...scope.paths]) endPath(scope, path, null, begun);
  scope.groups = null;
}

/** Steps under way that could be undone, here and in all open children: they may have had their effect. */
function begunIn(scope: ScopeDraft): Ending["begun"] {
  const begun: Ending["begun"][number][] = [];
  for (const place of [scope, ...openChildren(scope)]) {
    // of a child that was being undone already: what is left of it
    if (place.ending) begun.push(...place.ending.begun);
    for (const { id, nodeId, node, status, undoes } of place.paths) {
      if (undoes || (status !== "ready" && status !== "retrying") || !node.compensation) continue;
      begun.push(Object.freeze(isChild(place) ? { scope: place.key, pathId: id, nodeId } : { pathId: id, nodeId }));
    }
  }
  return Object.freeze(begun);
}

function openChildren(scope: ScopeDraft): ChildDraft[] {
  const { root }: { root: Draft } = scope;
  const open: ChildDraft[] = [];
  for (const key of [...root.children.keys()]) {
    if (key === scope.key || (scope.key !== "" && !belongsTo(key, scope.key))) continue;
    const child = childOf(root, key)!;
    if (!child.ended) open.push(child);
  }
  return open;
}
