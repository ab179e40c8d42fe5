import { type ModelDefinition, startOf } from "./model-definition.fixture.ts";

/** The statuses of a scope. */
export type ModelStatus = "active" | "parked" | "paused" | "error" | "completed" | "failed" | "cancelled";
/** The closed list of reasons for which a path ends. */
export type EndReason =
  | "end"
  | "merged"
  | "late"
  | "overtaken"
  | "cancels"
  | "terminated"
  | "failed"
  | "cancelled"
  | "drained"
  | "orphaned";
/** A reference to a result: node, path, version. */
export type ResultReference = readonly [node: string, path: string, version: number];

/** The code of a failure, and its node. Null if the failure has no node. */
export interface ModelError {
  code: "TASK_FAILED" | "JOIN_SHORT" | "STALLED";
  nodeId: string | null;
}

/** What a suspended path waits for. */
interface ModelWait {
  id: string;
  kind: "external" | "signal";
  signal?: string;
  /** True: the wait never takes a signal from the inbox. */
  transient?: boolean;
}

/** One path of a scope. */
export interface ModelPath {
  id: string;
  nodeId: string;
  status: "ready" | "held" | "joining" | "retrying" | "suspended";
  /** Rises by 1 whenever something happens to the path ("Paths and their names"). */
  turn: number;
  /** The turn at which the path arrived at its node, or at which its join fired. */
  visit: number;
  /** The number of failed attempts in this visit. */
  attempts: number;
  /** The number of new paths that have branched off from this path. */
  forks: number;
  /** The version at which the path arrived, or at which its join fired. */
  since: number;
  /** The number of the edge by which the path came; null for the first path of a scope. */
  via: number | null;
  /** The wave of each fork that the path came through, by the id of the fork ("Waves"). */
  waves: Record<string, string>;
  /** The results with which the path came to its node. */
  from: ResultReference[];
  waits: ModelWait[];
  /** True if the path was resumed or retried during this visit, so that `when` no longer holds it. */
  touched: boolean;
  /** True if the task of the path was ready at the end of a transition, so that its outcome may be under way. */
  offered: boolean;
  /** True if the executor was called in this visit. Only set at nodes with a compensation. */
  begun: boolean;
  /** True: the path only waits for the children that are left ("Waits, signals and children"). */
  draining: boolean;
  /** The children of the path; null if it has none. */
  map: ModelMap | null;
}

/** The children of a node: the prefix of their keys, the index of the next item to start, and the number of completed children. */
export interface ModelMap {
  key: string;
  next: number;
  done: number;
}

/** The round of a numeric join, with the numbers of the edges that have delivered. */
export interface ModelRound {
  join: string;
  wave: string;
  got: number[];
}

/** An open child: its key, the id of the path that waits for it, the name of its workflow, and its scope. */
export interface ModelChild {
  key: string;
  owner: string;
  workflow: string;
  /** The place of the child in the queue for a slot; 0 if it does not wait for one. */
  queued: number;
  scope: Scope;
}

/** A step that a compensation may have to undo. `completed: false`: the step was begun and has not completed. */
export interface Effect {
  /** The address of the path, relative to the scope. */
  path: string;
  nodeId: string;
  visit: number;
  version: number;
  completed: boolean;
}

/** The end of a scope while its compensations run ("Endings"). The first of `undo` is being undone. */
interface ModelEnding {
  status: "failed" | "cancelled";
  error: ModelError | null;
  /** The steps that are still to be undone. */
  undo: Effect[];
  /** The version at which failed compensations are tried again. Undefined during the first try. */
  again?: number;
  /** The state of the running compensation. */
  running: { status: "ready" | "retrying"; turn: number; attempts: number };
}

/** One scope: the execution itself or a child. */
export interface Scope {
  status: ModelStatus;
  paths: ModelPath[];
  rounds: ModelRound[];
  children: ModelChild[];
  /** The steps that have a compensation, the oldest first. */
  effects: Effect[];
  /** The number of successful outcomes of each node. */
  done: Record<string, number>;
  /** The number of arrivals by edge of a join and wave. More than 1 is an overrun. */
  arrivals: Record<string, number>;
  /** The first failure of a scope with `onFailure: "finish"`, while the other paths still run. */
  failure: ModelError | null;
  ending: ModelEnding | null;
}

/** The whole state of a model, as JSON. */
export interface World {
  version: number;
  root: Scope;
  /** The names of the kept signals, the oldest first. */
  inbox: string[];
  /** The number of all paths that were ever made. */
  born: number;
  /** The number of ended paths, by the reason of their end. */
  ended: Record<string, number>;
  /** The latest place in the queue that was given to an item. */
  queue: number;
  /** How many times each node was entered, by arrivals or by firings of its join. */
  firings: Record<string, number>;
  /** The paths and joins that have failed with JOIN_SHORT in this transition, as `<path's address>|<join>`. */
  shorts: string[];
  /** How many times an edge of a join got another path of the same wave. If not 0, the order of outcomes may matter. */
  overruns: number;
  /** The steps whose compensation has failed, with the full addresses of their paths. */
  notUndone: Effect[];
}

/** A scope together with its surroundings, which the rules need. */
export interface Frame {
  readonly world: World;
  readonly definition: ModelDefinition;
  readonly scope: Scope;
  /** The prefix of the names in this scope, for example `"0#1/3>"`; `""` for the root. */
  readonly chain: string;
  /** The prefix of the nodes of this scope in `firings`, for example `"C/"`. */
  readonly label: string;
  /** The frame of the scope around this scope; null for the root. */
  readonly outer: Frame | null;
  readonly hashId: (id: string) => string;
}

/** A scope with its first path, which has not arrived anywhere yet. */
export function newScope(world: { born: number }, definition: ModelDefinition): Scope {
  const path = newPath("0", startOf(definition));
  world.born += 1;
  const bags = { paths: [path], rounds: [], children: [], effects: [], done: {}, arrivals: {} };
  return { status: "active", ...bags, failure: null, ending: null };
}

/** A path that has not arrived anywhere yet. */
function newPath(id: string, nodeId: string): ModelPath {
  const counts = { turn: 0, visit: 0, attempts: 0, forks: 0, since: 0 };
  const bags = { waves: {}, from: [], waits: [] };
  return {
    id,
    nodeId,
    status: "ready",
    ...counts,
    via: null,
    ...bags,
    touched: false,
    offered: false,
    begun: false,
    draining: false,
    map: null,
  };
}

/** Compares ids so that the senior comes first: by length, then by code units ("Forks"). Keys of children have the same order. */
export function bySeniority(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}

/** Compares paths so that the path that arrived earlier comes first. */
export function byAge(left: ModelPath, right: ModelPath): number {
  return left.since - right.since || bySeniority(left.id, right.id);
}

/** Adds a new path at the node of `parent`, named as "Forks" says. It has not arrived anywhere yet. */
export function branchOff(frame: Frame, parent: ModelPath): ModelPath {
  parent.forks += 1;
  let id = `${parent.id}.${parent.forks}`;
  if (id.length > 32) id = `~${frame.hashId(id)}`;
  while (frame.scope.paths.some((path) => path.id === id)) id = `~${frame.hashId(id)}`;
  const path = { ...newPath(id, parent.nodeId), waves: { ...parent.waves }, from: [...parent.from] };
  frame.world.born += 1;
  frame.scope.paths.push(path);
  return path;
}

/** Ends a path and its children. A path that has ended already is ignored. `isPatient`: children that undo their steps may finish that. */
export function endPath(frame: Frame, path: ModelPath, reason: EndReason, isPatient = true): void {
  const place = frame.scope.paths.indexOf(path);
  if (place < 0) return;
  giveUpStep(frame, path);
  const mine = frame.scope.children.filter((candidate) => candidate.owner === path.id);
  if (letGo(frame, mine, isPatient)) {
    // the path drains: it waits only for the children that still undo their steps, and ends with the last of them
    Object.assign(path, { draining: true, turn: path.turn + 1 });
    path.map!.next = Number.POSITIVE_INFINITY;
    return;
  }
  frame.scope.paths.splice(place, 1);
  count(frame.world.ended, reason);
}

/** Ends children early. True if some of them are undoing their steps and, with `isPatient`, go on with that. */
export function letGo(frame: Frame, children: readonly ModelChild[], isPatient = true): boolean {
  const undoing = isPatient ? children.filter(({ scope }) => (scope.ending?.undo.length ?? 0) > 0) : [];
  for (const child of children) {
    if (undoing.includes(child)) continue;
    // the parent takes over the steps of the child, because they may have to be undone later
    for (const inner of allFrames(frameOfChild(frame, child))) for (const path of inner.scope.paths) giveUpStep(inner, path);
    frame.scope.effects.push(...effectsOf(frameOfChild(frame, child), `${child.key}>`));
    dropChild(frame, child);
  }
  return undoing.length > 0;
}

/** Records that a begun step of a path will not complete but may have had an effect, once for each node and path. */
export function giveUpStep({ scope, world }: Frame, path: ModelPath): void {
  const { id, nodeId, visit } = path;
  const isNew = !scope.effects.some((effect) => !effect.completed && effect.path === id && effect.nodeId === nodeId);
  if (path.begun && isNew) scope.effects.push({ path: id, nodeId, visit, version: world.version, completed: false });
  path.begun = false;
}

/** The steps of a child and of its children that have, or may have, an effect and are not undone yet. */
function effectsOf(frame: Frame, prefix: string): Effect[] {
  const { ending, effects, children } = frame.scope;
  const own = (ending?.undo ?? effects).map((effect) => ({
    ...effect,
    path: prefix + effect.path,
  }));
  return [...own, ...children.flatMap((child) => effectsOf(frameOfChild(frame, child), `${prefix}${child.key}>`))];
}

/** Removes a child. Its open paths and those of its children end as `orphaned`. */
export function dropChild(frame: Frame, child: ModelChild): void {
  frame.scope.children.splice(frame.scope.children.indexOf(child), 1);
  const inner = frameOfChild(frame, child);
  for (const path of [...child.scope.paths]) endPath(inner, path, "orphaned", false);
}

/** Ends all paths, rounds and children of a scope ("Settling and status"). */
export function endAllPaths(frame: Frame, reason: EndReason, isPatient = true): void {
  for (const path of [...frame.scope.paths]) endPath(frame, path, reason, isPatient);
  frame.scope.rounds = [];
}

/** The frame of an open child, made from the frame of its parent. */
export function frameOfChild(frame: Frame, child: ModelChild): Frame {
  const definition = workflowOf(frame, child.workflow);
  const chain = `${frame.chain}${child.key}>`;
  return { ...frame, definition, scope: child.scope, chain, label: `${frame.label}${child.workflow}/`, outer: frame };
}

/** Finds a workflow by its name, in this definition or else in an enclosing one. */
export function workflowOf(frame: Frame, name: string): ModelDefinition {
  for (let place: Frame | null = frame; place; place = place.outer) {
    const found = place.definition.workflows?.[name];
    if (found) return found;
  }
  throw new RangeError(`no workflow ${name}`);
}

/** The frame and the frames of all open children, depth first; the children of one scope in the order of their keys. */
export function allFrames(frame: Frame): Frame[] {
  const children = frame.scope.children.toSorted((left, right) => bySeniority(left.key, right.key));
  return [frame, ...children.flatMap((child) => allFrames(frameOfChild(frame, child)))];
}

/** Adds one to a named count. */
export function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
