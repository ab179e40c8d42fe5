import { type ModelChildren, type ModelNode, nodeOf, startOf } from "./model-definition.fixture.ts";
import { isTerminal } from "./model-endings.fixture.ts";
import { arrive, complete, failNode, resume } from "./model-moves.fixture.ts";
import {
  branchOff,
  bySeniority,
  dropChild,
  endPath,
  type Frame,
  frameOfChild,
  letGo,
  type ModelChild,
  type ModelMap,
  type ModelPath,
  newScope,
  workflowOf,
} from "./model-state.fixture.ts";

/** Suspends a path at a node with children. The children start when the scope settles. False if the node has no children. */
export function spawn(frame: Frame, path: ModelPath): boolean {
  if (!nodeOf(frame.definition, path.nodeId).children) return false;
  path.turn += 1;
  Object.assign(path, { status: "suspended", map: { key: `${path.id}#${path.visit}`, next: 0, done: 0 } });
  return true;
}

/** Takes one step: folds an ended child, completes a map or starts an item ("Settling and status"). True if anything changed. */
export function settleChildren(frame: Frame): boolean {
  return frame.scope.paths.some((path) => path.map !== null && settleMap(frame, path, path.map, childrenOf(frame, path)));
}

/** Resumes a path in a child. An item in which every path was suspended has given up its slot, so it queues for a slot again. */
export function resumeInItem(frame: Frame, path: ModelPath): void {
  const idle = framesAround(frame).filter(({ child }) => !takesSlot(child));
  resume(path);
  path.status = "ready";
  frame.scope.status = "active";
  for (const { outer, child } of idle) {
    const { map } = slotsOf(outer, child);
    if (!map) continue;
    child.queued = ++frame.world.queue;
  }
}

function framesAround(frame: Frame): { readonly outer: Frame; readonly child: ModelChild }[] {
  const around: { readonly outer: Frame; readonly child: ModelChild }[] = [];
  for (let inner = frame; inner.outer; inner = inner.outer) {
    const { outer } = inner;
    around.push({ outer, child: outer.scope.children.find(({ scope }) => scope === inner.scope)! });
  }
  return around;
}

function slotsOf(outer: Frame, child: ModelChild): { readonly map: boolean } {
  const owner = outer.scope.paths.find(({ id }) => id === child.owner)!;
  return { map: isMap(nodeOf(outer.definition, owner.nodeId)) };
}

/** True: after a map has completed early with `remaining: "finish"`, items that had not started still start. */
function drainingMapStartsItems(): boolean {
  return true;
}

function settleMap(frame: Frame, path: ModelPath, map: ModelMap, spec: ModelChildren): boolean {
  const mine = openChildren(frame, path);
  const ended = mine.find((child) => isTerminal(child.scope.status));
  if (ended) return foldChild(frame, path, map, ended);
  if (!path.draining && map.done >= Math.min(spec.completeWhen ?? spec.items, spec.items)) return completeMap(frame, path, map, spec);
  const running = mine.filter((child) => takesSlot(child) && child.queued === 0).length;
  const queued = mine.filter(({ queued: place }) => place > 0).toSorted((left, right) => left.queued - right.queued)[0];
  if (queued && running < (spec.concurrency ?? Number.POSITIVE_INFINITY)) {
    queued.queued = 0;
    return true;
  }
  const mayStart = !path.draining || drainingMapStartsItems();
  if (mayStart && map.next < spec.items && running < (spec.concurrency ?? Number.POSITIVE_INFINITY)) {
    startItem(frame, path, map, spec);
    return true;
  }
  if (!path.draining || mine.length > 0) return false;
  endPath(frame, path, "drained");
  return true;
}

/**
 * Removes a child that has ended. A completed child is counted. A failed child fails the node, except on a draining path, whose map has
 * completed already.
 */
function foldChild(frame: Frame, path: ModelPath, map: ModelMap, child: ModelChild): boolean {
  const { status, ending, effects } = child.scope;
  dropChild(frame, child);
  if (status === "completed") {
    map.done += 1;
    const node = nodeOf(frame.definition, path.nodeId);
    if (!node.compensate) {
      frame.scope.effects.push(...effects.map((effect) => ({ ...effect, path: `${child.key}>${effect.path}` })));
    }
  } else if (!path.draining) {
    if (letGo(frame, openChildren(frame, path))) drain(frame, path, map, true);
    failNode(frame, path, ending?.error ?? { code: "TASK_FAILED", nodeId: null });
  }
  return true;
}

/** Completes the node. Its other children are cancelled or left to a draining path ("Waits, signals and children"). */
function completeMap(frame: Frame, path: ModelPath, map: ModelMap, spec: ModelChildren): boolean {
  const remaining = openChildren(frame, path);
  const unfinished = remaining.length > 0 || (drainingMapStartsItems() && map.next < spec.items);
  if (spec.remaining === "finish" && unfinished) drain(frame, path, map, false);
  else if (letGo(frame, remaining)) drain(frame, path, map, true);
  complete(frame, path, [""], false);
  return true;
}

/** Gives the children that are left to a new draining path. `isFull`: no further items start. */
function drain(frame: Frame, path: ModelPath, map: ModelMap, isFull: boolean): void {
  const left = openChildren(frame, path);
  const draining = branchOff(frame, path);
  Object.assign(draining, { turn: 1, visit: 1, since: frame.world.version, via: path.via });
  Object.assign(draining, { status: "suspended", draining: true });
  draining.map = isFull ? { ...map, next: Number.POSITIVE_INFINITY } : { ...map };
  for (const child of left) child.owner = draining.id;
}

/** Starts a child. Its key is `id#visit` of the path that spawned it, plus `/i` for an item; a draining path keeps this prefix. */
function startItem(frame: Frame, path: ModelPath, map: ModelMap, spec: ModelChildren): void {
  const key = isMap(nodeOf(frame.definition, path.nodeId)) ? `${map.key}/${map.next}` : map.key;
  map.next += 1;
  const definition = workflowOf(frame, spec.workflow);
  const child: ModelChild = { key, owner: path.id, workflow: spec.workflow, queued: 0, scope: newScope(frame.world, definition) };
  frame.scope.children.push(child);
  const inner = frameOfChild(frame, child);
  for (const first of child.scope.paths) arrive(inner, first, startOf(definition), null);
}

/** True if a path in an item or below it is ready or retrying. An item in which every path is suspended frees its slot. */
function takesSlot({ scope }: ModelChild): boolean {
  return scope.status === "active" || scope.status === "error" || scope.children.some(takesSlot);
}

function openChildren(frame: Frame, path: ModelPath): ModelChild[] {
  const mine = frame.scope.children.filter((child) => child.owner === path.id);
  return mine.toSorted((left, right) => bySeniority(left.key, right.key));
}

/** The children that the node of a path spawns. A node of type `workflow` always has exactly one child. */
function childrenOf(frame: Frame, path: ModelPath): ModelChildren {
  const node = nodeOf(frame.definition, path.nodeId);
  if (!node.children) throw new RangeError(`${node.id} has no children`);
  return isMap(node) ? node.children : { workflow: node.children.workflow, items: 1 };
}

function isMap(node: ModelNode): boolean {
  return node.type === "map";
}
