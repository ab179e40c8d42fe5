import type { ErrorInfo } from "../../errors/error-info.ts";
import { belongsTo } from "../../snapshot/address.ts";
import type { Ending } from "../../snapshot/snapshot.ts";
import { type ChildDraft, type Draft, isChild, type ScopeDraft } from "../draft/draft.ts";
import type { DraftPath } from "../draft/draft-path.ts";
import { childOf } from "../draft/open-draft.ts";
import { endPath } from "./end-path.ts";
import { leave } from "./leave.ts";
import { firstUndo } from "./undo.ts";

/** Lets a path whose node failed leave by the handle, if the failure has one; otherwise fails the scope. */
export function failPath(scope: ScopeDraft, path: DraftPath, error: ErrorInfo, handle: string | undefined, version: number): void {
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
  // with onFailure "finish" there may be an earlier failure
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

/** Ends all paths of a scope because a node has ended the scope. */
export function terminate(scope: ScopeDraft): void {
  clear(scope, null);
}

function clear(scope: ScopeDraft, begun: Ending["begun"] | null): void {
  for (const path of [...scope.paths]) endPath(scope, path, null, begun);
  scope.groups = null;
}

/** Steps in progress that can be undone, here and in all open children: they may have had their effect. */
function begunIn(scope: ScopeDraft): Ending["begun"] {
  const begun: Ending["begun"][number][] = [];
  for (const place of [scope, ...openChildren(scope)]) {
    // a child that was being undone already: what is left to undo
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
