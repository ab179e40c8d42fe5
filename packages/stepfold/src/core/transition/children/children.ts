import { type ErrorInfo, errorInfo } from "../../errors/error-info.ts";
import { StepfoldError } from "../../errors/stepfold-error.ts";
import { childKey, groupOf, itemOf, parentKey, scopedKey } from "../../snapshot/address.ts";
import type { CancelledEvent, SpawnedEvent } from "../../snapshot/event.ts";
import { largeBytes } from "../../snapshot/large-values.ts";
import { isNotUndone } from "../../snapshot/not-undone.ts";
import type { Wait } from "../../snapshot/parts/wait.ts";
import { type ChildState, isTerminal, type MapState } from "../../snapshot/snapshot.ts";
import { type EpochMs, sizeOfJson } from "../../values/json.ts";
import { markChanged } from "../draft/add-result.ts";
import { deadlineOf } from "../draft/deadline.ts";
import { type ChildDraft, type Draft, newChild, newChildCollections, noChildCollections, type ScopeDraft } from "../draft/draft.ts";
import { clearWaits, type DraftChildren, type DraftPath, firstPath, openChildren } from "../draft/draft-path.ts";
import { updateCounters } from "../draft/draft-status.ts";
import { subtractSize } from "../draft/held-size.ts";
import { scopeAt } from "../draft/open-draft.ts";
import { childBytes, sizeOfHeld } from "../draft/result-size.ts";
import { forgetChildren } from "../paths/end-path.ts";
import { enter } from "../paths/leave.ts";
import { hasEffects } from "../paths/undo.ts";

/** Makes a path wait for new children. They begin when the scope settles, in a map as far as its `concurrency` allows. */
export function spawn(
  scope: ScopeDraft,
  path: DraftPath,
  { at: openedAt, children: { workflow, input, map, timeoutAt } }: Pick<SpawnedEvent, "at" | "children">,
): void {
  const key = `${path.id}#${path.visit}`;
  path.status = "suspended";
  path.turn++;
  path.nextRetryAt = undefined;
  clearWaits(scope.root, path);
  path.children = openChildren(path, { key, workflow });
  if (timeoutAt !== undefined) {
    const wait: Wait = { id: scopedKey(scope.key, `${path.id}@${path.turn}`), kind: "children", openedAt, timeoutAt };
    path.waits = Object.freeze([Object.freeze(wait)]);
  }
  if (scope.root.children === noChildCollections.children) Object.assign(scope.root, newChildCollections());
  const items = map ? map.items : input === undefined ? [] : [input];
  scope.root.mapItems.set(scopedKey(scope.key, key), items);
  if (!map) return;
  const { concurrency, open, completeWhen, remaining, tolerated } = map;
  path.children.map = Object.freeze({
    total: items.length,
    next: 0,
    done: 0,
    failed: 0,
    cancelled: 0,
    concurrency,
    remaining,
    tolerated,
    ...(open && { open }),
    ...(completeWhen !== undefined && { completeWhen }),
  });
}

/** Changes the counters of a map. */
export function countItems(children: DraftChildren, change: Partial<MapState>): void {
  children.map = Object.freeze({ ...children.map!, ...change });
}

/**
 * Lets the next child begin, or a queued one go on, if there is one and the map's `concurrency` allows it. Returns that child, or null.
 *
 * @throws StepfoldError `LIMIT_EXCEEDED` if the execution may have no more children; the errors of `deadlineOf`
 */
export function nextChild(scope: ScopeDraft, children: DraftChildren, version: number, at: EpochMs): ChildDraft | null {
  const { map, queue } = children;
  if (!map) return scope.root.children.has(childKey(scope.key, children.key, null)) ? null : begin(scope, children, null, version, at);
  if (children.busy >= map.concurrency) return null;
  const waiting = queue.shift();
  if (waiting !== undefined) return goOn(scope, children, waiting, version);
  let item = map.next;
  // skips items that were cancelled before they began
  while (scope.root.children.has(childKey(scope.key, children.key, item))) item++;
  if (item >= map.total) return null;
  const child = begin(scope, children, item, version, at);
  countItems(children, { next: item + 1 });
  return child;
}

function goOn({ root }: ScopeDraft, children: DraftChildren, key: string, version: number): ChildDraft {
  const child = root.children.get(key) as ChildDraft;
  child.queued = null;
  children.busy++;
  // an item that a restart has opened again may wait for its next attempt
  if (child.status === "error") children.retrying++;
  root.awake.add(child);
  markChanged(child, version);
  return child;
}

function begin(scope: ScopeDraft, children: DraftChildren, item: number | null, version: number, at: EpochMs): ChildDraft {
  const { root } = scope;
  const { scopes: max } = scope.workflow.limits;
  if (root.openChildren >= max)
    throw new StepfoldError("LIMIT_EXCEEDED", { what: `Execution "${root.workflowId}"`, limit: "scopes", max, actual: max + 1 });
  const key = childKey(scope.key, children.key, item);
  const workflow = scope.workflow.workflows.get(children.workflow)!;
  const items = root.mapItems.get(scopedKey(scope.key, children.key))!;
  const input = items[item ?? 0];
  const isLarge = root.incarnation !== undefined && input !== undefined && sizeOfJson(input) >= largeBytes;
  const child = newChild({
    root,
    key,
    parent: scope,
    workflow,
    workflowName: children.workflow,
    item,
    deadlineAt: deadlineOf(workflow, { input, metadata: root.metadata, at }),
    input,
    inputInEvents: isLarge ? `items/${scopedKey(scope.key, children.key)}/${item ?? 0}` : undefined,
  });
  child.siblings = children;
  child.version = version;
  child.paths.push(firstPath(workflow.nodes.get(workflow.starts[0]!)!, version, children.map?.ahead));
  enter(child.paths[0]!);
  root.children.set(key, child);
  root.openChildren++;
  root.sizeBytes += childBytes;
  if (item === null) root.mapItems.delete(key);
  markChanged(child, version);
  updateCounters(child);
  return child;
}

/** Cancels an item that has not begun. Returns the scope of its map; null if there is no such item. */
export function skipItem(draft: Draft, key: string, { version, reason }: CancelledEvent): ScopeDraft | null {
  const scope = scopeAt(draft, parentKey(key));
  const children = scope?.paths.find(({ children }) => children?.key === groupOf(key))?.children;
  const item = itemOf(key) ?? -1;
  if (!scope || !children?.map || item < children.map.next || item >= children.map.total || draft.children.has(key)) return null;
  countItems(children, { cancelled: children.map.cancelled + 1 });
  draft.sizeBytes += childBytes;
  draft.children.set(key, stubOf(children.workflow, "cancelled", version, { error: cancellation(key, reason)! }));
  draft.changed.add(key);
  return scope;
}

/** Returns the error of a scope that a command cancelled, with the given reason as message. Undefined for an execution without a reason. */
export function cancellation(key: string, reason: string | undefined): ErrorInfo | undefined {
  if (key === "" && reason === undefined) return undefined;
  const { message, ...error } = errorInfo(new StepfoldError("EXECUTION_CANCELLED", { workflowId: key }));
  return Object.freeze({ ...error, message: reason ?? message });
}

/**
 * Counts an ended child and keeps only what its parent needs: status, node, output and error. Everything is kept if steps in it may have to
 * be undone, or if one of them could not be undone (`settled`).
 */
export function endChild(child: ChildDraft, version: number): void {
  const { root, key, siblings, ended, workflow, output, error, workflowName } = child;
  markChanged(child, version);
  root.openChildren--;
  if (siblings?.map) {
    const count = ended === "completed" ? "done" : ended!;
    countItems(siblings, { [count]: siblings.map[count as "done" | "failed" | "cancelled"] + 1 });
  }
  const hasDone = ended === "completed" && workflow.compensates && needsUndo(child) && hasEffects(child);
  if (!hasDone) forgetChildren(child);
  if (hasDone || isNotUndone(root.compensations, key)) {
    child.kept = true;
    child.settled = !hasDone;
    return;
  }
  subtractSize(root, sizeOfHeld(child) - (output === undefined ? 0 : sizeOfJson(output)));
  const left = { currentNodeId: child.failedNodeId, ...(output !== undefined && { output }), ...(error && { error }) };
  root.children.set(key, stubOf(workflowName, ended!, version, left));
}

/** Returns the state that is kept of an ended child, or of an item that was cancelled before it began: no paths and no results. */
function stubOf(
  workflow: string,
  status: ChildState["status"],
  version: number,
  left: Partial<Pick<ChildState, "currentNodeId" | "output" | "error">>,
): ChildState {
  return Object.freeze({
    workflow,
    status,
    currentNodeId: null,
    activePaths: Object.freeze([]),
    context: Object.freeze({}),
    version,
    ...left,
  });
}

/** Whether the steps of a child may have to be undone. If the node that began it has a `compensate`, that undoes the child as a whole. */
function needsUndo({ siblings }: ChildDraft): boolean {
  return siblings !== null && !siblings.path.node.compensation;
}

/** Returns the child of a path at a `workflow` node; null while it has not ended. */
export function endedChild({ root, key }: ScopeDraft, children: DraftChildren): ChildState | ChildDraft | null {
  const child = root.children.get(childKey(key, children.key, null));
  if (!child) return null;
  return ("root" in child ? child.ended !== null : isTerminal(child.status)) ? child : null;
}

/** Whether all items of a map have ended and no more items can be added. */
export function isFull({ map }: DraftChildren): boolean {
  return map!.done + map!.failed + map!.cancelled >= map!.total && !map!.open;
}
