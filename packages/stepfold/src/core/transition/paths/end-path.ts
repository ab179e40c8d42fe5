import type { ErrorInfo } from "../../errors/error-info.ts";
import { belongsTo, childKey, scopedKey } from "../../snapshot/address.ts";
import type { EndedPath } from "../../snapshot/event.ts";
import { isNotUndone, scopesNotUndone } from "../../snapshot/not-undone.ts";
import { isSameActed } from "../../snapshot/parts/acted.ts";
import type { BegunStep, Ending } from "../../snapshot/snapshot.ts";
import { sizeOfJson } from "../../values/json.ts";
import { wakeCode } from "../code/code-path.ts";
import { markChanged } from "../draft/add-result.ts";
import { type ChildDraft, isChild, type ScopeDraft } from "../draft/draft.ts";
import { clearWaits, type DraftChildren, type DraftPath } from "../draft/draft-path.ts";
import { updateCounters } from "../draft/draft-status.ts";
import { subtractSize } from "../draft/held-size.ts";
import { unwait } from "../draft/join-group.ts";
import { childOf, isOpen, scopeAt } from "../draft/open-draft.ts";
import { withdraw } from "../draft/outbox.ts";
import { childBytes, sizeOfHeld } from "../draft/result-size.ts";
import { firstUndo, hasEffects, scopesToUndo } from "./undo.ts";

/** Records a step that was begun and will not complete, because it may have had an effect that must be undone. */
export function giveUpStep(scope: ScopeDraft, path: DraftPath): void {
  const acted = path.begun ? Object.freeze({ visit: path.visit }) : path.acted;
  const { id: pathId, nodeId, undo } = path;
  if (acted) addBegun(scope, { pathId, nodeId, acted, ...(undo && { undo }) });
  path.begun = false;
  path.acted = undefined;
}

function addBegun(scope: ScopeDraft, step: BegunStep): void {
  const { pathId, nodeId, acted } = step;
  if (scope.begun.some((one) => one.pathId === pathId && one.nodeId === nodeId && isSameActed(one.acted, acted))) return;
  scope.begun = Object.freeze([...scope.begun, Object.freeze(step)]);
  markChanged(scope, scope.root.version + 1);
}

/**
 * Ends a path and its children. If one of the children is being undone, the path stays as a draining path until the child is done.
 *
 * @param reason is stored with the event; null if no reason is needed, for example at an end of the graph or at a join
 * @param all see `dropChildren`
 */
export function endPath(scope: ScopeDraft, path: DraftPath, reason: EndedPath["reason"] | null, all = false): void {
  scope.root.endedPathCount++;
  giveUpStep(scope, path);
  if (path.waits) withdraw(scope.root, path.waits);
  clearWaits(scope.root, path);
  if (path.status === "joining") unwait(scope, path.node.join!, path);
  if (path.children && dropChildren(scope, path.children, all)) {
    path.draining = true;
    path.turn++;
  } else {
    scope.paths.splice(scope.paths.indexOf(path), 1);
    path.open = false;
    path.children = undefined;
    if (scope.workflow.code) wakeCode(scope, path.id);
  }
  if (reason === null) return;
  const ended = { pathId: path.id, nodeId: path.nodeId, reason };
  scope.root.endedPaths.push(isChild(scope) ? { scope: scope.key, ...ended } : ended);
}

/**
 * Drops the children of a path. Children with steps that may have to be undone are kept with their results. A child that is undoing its
 * steps goes on with that, unless `all` is true; the path then has to stay, and the result is true.
 *
 * @param all true if the whole scope ends and undoes its steps: then no child goes on undoing its steps by itself
 */
export function dropChildren(scope: ScopeDraft, children: DraftChildren, all: boolean): boolean {
  const { root } = scope;
  const { key, map } = children;
  let undoing = 0;
  const drop = (child: string): void => {
    if (dropChild(scope, child, all)) undoing++;
  };
  if (!map) drop(childKey(scope.key, key, null));
  // the keys of all items are known, so the other children of the execution need not be searched
  for (let item = 0; map && item < map.total; item++) drop(childKey(scope.key, key, item));
  if (undoing === 0) {
    root.mapItems.delete(scopedKey(scope.key, key));
    return false;
  }
  if (map) {
    const { open: _, ...closed } = map;
    const { total, done, failed } = map;
    children.map = Object.freeze({ ...closed, next: total, cancelled: total - done - failed - undoing });
  }
  return true;
}

function dropChild({ root, workflow }: ScopeDraft, key: string, all: boolean): boolean {
  const state = root.children.get(key);
  if (!state || ("root" in state ? state.kept : state.kept === true)) return false;
  if (!isOpen(state)) forget(root, key);
  else if (workflow.compensates) {
    const child = childOf(root, key)!;
    if (!all && child.ending) return true;
    if (!all && isUndoingInside(child)) {
      undoAll(child);
      return true;
    }
    retire(child, all);
  } else {
    for (const inner of [...root.children.keys()]) if (belongsTo(inner, key)) forget(root, inner);
    for (const items of [...root.mapItems.keys()]) if (belongsTo(items, key)) root.mapItems.delete(items);
  }
  return false;
}

/** Whether a scope inside a child is undoing steps. */
function isUndoingInside({ root, key, paths }: ScopeDraft): boolean {
  return paths.some(({ children }) => {
    if (!children) return false;
    for (let item = 0; item < (children.map?.next ?? 1); item++) {
      const inner = root.children.get(childKey(key, children.key, children.map ? item : null));
      if (!inner || !isOpen(inner)) continue;
      const scope = childOf(root, childKey(key, children.key, children.map ? item : null))!;
      if (scope.ending || isUndoingInside(scope)) return true;
    }
    return false;
  });
}

/** Cancels a child inside which steps are being undone. That has to go on, so the child stays open, and all its steps are undone. */
function undoAll(child: ChildDraft): void {
  const version = child.root.version + 1;
  stop(child, "cancelled", child.paths[0]!.nodeId, undefined, version);
  markChanged(child, version);
  updateCounters(child);
}

/** Ends a child as cancelled, after its own children. It is deleted, unless steps in it may have to be undone or could not be undone. */
function retire(child: ChildDraft, all: boolean): void {
  const { root, key, ending } = child;
  for (const path of child.paths) {
    if (path.waits) withdraw(root, path.waits);
    giveUpStep(child, path);
    if (!path.children) continue;
    dropChildren(child, path.children, all);
    // the path ends, so no further item begins, even if an item is still being undone
    root.mapItems.delete(scopedKey(key, path.children.key));
  }
  // if the child was undoing steps, the begun steps that are not undone yet are recorded again
  for (const { scope, ...step } of ending?.begun ?? []) addBegun(scopeAt(root, scope)!, step);
  child.paths = [];
  child.groups = null;
  child.ending = undefined;
  child.ended = "cancelled";
  root.openChildren--;
  updateCounters(child);
  root.endedPathCount++;
  if (!hasEffects(child) && !isNotUndone(root.compensations, key)) {
    forget(root, key);
    return;
  }
  child.kept = true;
  markChanged(child, root.version + 1);
}

/**
 * Deletes the children inside a scope that has ended. Children with failed compensations are kept, because these may be tried again, until
 * the execution itself has ended.
 */
export function forgetChildren({ root, key, ended }: ScopeDraft): void {
  if (root.children.size === 0) return;
  const needed = key === "" && ended !== null ? nothing : scopesNotUndone(root.compensations);
  for (const child of [...root.children.keys()]) {
    const isInside = key === "" || (child !== key && belongsTo(child, key));
    if (isInside && !needed.has(child)) forget(root, child);
  }
}

const nothing: ReadonlySet<string> = new Set();

function forget(root: ScopeDraft["root"], key: string): void {
  const child = root.children.get(key)!;
  // of an ended child that was not kept, only the size of its output is still counted (see `endChild`)
  const size = sizeOfHeld(child);
  subtractSize(root, childBytes + (size === 0 && child.output !== undefined ? sizeOfJson(child.output) : size));
  if (isOpen(child)) root.openChildren--;
  root.children.delete(key);
  root.changed.delete(key);
  root.timers.set(key, null);
  root.dropped.push(key);
  root.endedPathCount++;
  for (const { waits } of "root" in child ? child.paths : child.activePaths) if (waits) withdraw(root, waits);
  if ("root" in child) root.awake.delete(child);
}

/**
 * Ends a scope early, as failed or cancelled, with all its paths and children. If there are steps to undo, the scope stays open as `ending`
 * until they are undone (docs/path-semantics.md, "Endings").
 *
 * @param nodeId the node at which the scope failed, or stood when it was cancelled
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
  clear(scope, true);
  const begun = takeBegun(scope);
  scope.failedNodeId = nodeId;
  scope.output = undefined;
  scope.error = error;
  scope.ending = Object.freeze(error ? { status, nodeId, error, begun } : { status, nodeId, begun });
  // while the `finally` nodes run, nothing is undone any more
  const isClosing = !isChild(scope) && scope.root.closing !== undefined;
  if (!isClosing && firstUndo(scope, version)) return;
  scope.ending = undefined;
  scope.ended = status;
}

/** Ends all paths of a scope because a completed step ends the scope (`terminates`). */
export function terminate(scope: ScopeDraft): void {
  clear(scope, false);
}

function clear(scope: ScopeDraft, all: boolean): void {
  for (const path of [...scope.paths]) endPath(scope, path, null, all);
  scope.groups = null;
}

const noneBegun: Ending["begun"] = Object.freeze([]);

/** Removes and returns the steps of a scope and its kept children that were begun and did not complete; later children and steps first. */
function takeBegun(scope: ScopeDraft): Ending["begun"] {
  if (!scope.workflow.compensates) return noneBegun;
  const begun: Ending["begun"][number][] = [];
  for (const place of scopesToUndo(scope)) {
    if (place.begun.length === 0) continue;
    for (const step of place.begun) begun.push(Object.freeze(isChild(place) ? { scope: place.key, ...step } : step));
    place.begun = [];
    markChanged(place, scope.root.version + 1);
  }
  return Object.freeze(begun.reverse());
}
