import { touch } from "./add-result.ts";
import { belongsTo, within } from "./child-key.ts";
import { type ChildDraft, type Draft, isChild, type ScopeDraft } from "./draft.ts";
import type { DraftPath } from "./draft-path.ts";
import { endPath, forget } from "./end-path.ts";
import { leave } from "./leave.ts";
import { childOf } from "./open-draft.ts";
import { withdraw } from "./outbox.ts";
import type { Ending, ErrorInfo } from "./snapshot.ts";
import { firstUndo, hasEffects } from "./undo.ts";

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
 * R10: ends a scope before its time. Every path of it ends, and every child. Where something can be undone, that comes
 * first.
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
  if (scope.workflow.compensates) keepOpenChildren(scope, begun, version);
  clear(scope);
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
  clear(scope);
}

function clear(scope: ScopeDraft): void {
  for (const path of [...scope.paths]) endPath(scope, path, null);
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

/** What open children have done can be undone only as long as their results are known; the others go at once. */
function keepOpenChildren(scope: ScopeDraft, begun: Ending["begun"], version: number): void {
  const { root } = scope;
  // the innermost first: what is kept of it keeps what is around it
  for (const child of openChildren(scope).reverse()) {
    for (const { children } of child.paths) if (children) root.mapItems.delete(within(child.key, children.key));
    const isBegun = begun.some((step) => step.scope !== undefined && belongsTo(step.scope, child.key));
    if (!isBegun && !hasEffects(child)) {
      forget(root, child.key);
      continue;
    }
    for (const { waits } of child.paths) if (waits) withdraw(root, waits);
    child.paths = [];
    child.groups = null;
    child.ending = undefined;
    child.ended = "cancelled";
    child.status = "cancelled";
    child.queued = null;
    child.kept = true;
    root.endings++;
    root.awake.delete(child);
    root.timers.set(child.key, null);
    touch(child, version);
  }
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
