import { type ModelDefinition, startOf } from "./model-definition.fixture.ts";

/** What a snapshot can be in, as a whole. */
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

/** What failed, and where. */
export interface ModelError {
  code: "TASK_FAILED" | "JOIN_SHORT" | "STALLED";
  nodeId: string | null;
}

/** What a suspended path waits for. */
interface ModelWait {
  id: string;
  kind: "external" | "signal";
  signal?: string;
  transient?: boolean;
}

/** One place where a scope stands. */
export interface ModelPath {
  id: string;
  nodeId: string;
  status: "ready" | "held" | "joining" | "retrying" | "suspended";
  turn: number;
  visit: number;
  /** Failed attempts of this visit. */
  attempts: number;
  forks: number;
  /** Version of the arrival or firing. */
  since: number;
  /** Number of the edge it came by; null for a scope's first path. */
  via: number | null;
  waves: Record<string, string>;
  from: ResultReference[];
  waits: ModelWait[];
  /** It was resumed or retried during this visit, so `when` no longer holds it back. */
  touched: boolean;
  /** Its task was ready at the end of a transition, so an outcome may be under way. */
  offered: boolean;
  /** Its executor was called in this visit; only where the node has a compensation. */
  begun: boolean;
  draining: boolean;
  map: ModelMap | null;
}

/** A node's children: the first part of their keys, how many were started, how many have completed. */
export interface ModelMap {
  key: string;
  next: number;
  done: number;
}

/** A round of a numeric join: what came since it fired. */
export interface ModelRound {
  join: string;
  wave: string;
  got: number[];
}

/** An open child: its key, the path that it belongs to, its scope. */
export interface ModelChild {
  key: string;
  owner: string;
  workflow: string;
  /** Its place among those that wait for a slot; 0 if it does not. */
  queued: number;
  scope: Scope;
}

/** Something that a compensation may have to take back. */
export interface Effect {
  /** Address of the path, relative to the scope. */
  path: string;
  nodeId: string;
  visit: number;
  version: number;
  completed: boolean;
}

/** How a scope ends while its compensations run ("Endings"); the first of `undo` is the one that runs. */
interface ModelEnding {
  status: "failed" | "cancelled";
  error: ModelError | null;
  undo: Effect[];
  /** What it undoes failed before, and is tried again: at which version that began. */
  again?: number;
  running: { status: "ready" | "retrying"; turn: number; attempts: number };
}

/** One snapshot: the root or a child. */
export interface Scope {
  status: ModelStatus;
  paths: ModelPath[];
  rounds: ModelRound[];
  children: ModelChild[];
  /** Results with a compensation, oldest first. */
  effects: Effect[];
  /** Successful outcomes per node. */
  done: Record<string, number>;
  /** Arrivals per edge of a join and wave: above 1 it is an overrun. */
  arrivals: Record<string, number>;
  /** With `onFailure: "finish"`: the first failure, while the other paths run on. */
  failure: ModelError | null;
  ending: ModelEnding | null;
}

/** Everything a model knows, as JSON. */
export interface World {
  version: number;
  root: Scope;
  inbox: string[];
  born: number;
  ended: Record<string, number>;
  /** Places given out to items that wait for a slot. */
  queue: number;
  firings: Record<string, number>;
  /** Which paths fell short at which joins in this transition. */
  shorts: string[];
  /** How often an edge of a join got another path of a wave: from then on the order of outcomes may matter. */
  overruns: number;
  /** What could not be undone, under the full addresses of its paths. */
  notUndone: Effect[];
}

/** A scope together with what its rules need to see around it. */
export interface Frame {
  readonly world: World;
  readonly definition: ModelDefinition;
  readonly scope: Scope;
  /** Prefix of the names in this scope: `"0#1/3>"`, or `""` for the root. */
  readonly chain: string;
  /** Prefix of its nodes in `firings`: `"C/"`. */
  readonly label: string;
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

/** Orders ids, the senior first: by length, then by code units ("Forks"). Keys of children have the same order. */
export function bySeniority(left: string, right: string): number {
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}

/** Orders paths, the one that came first first. */
export function byAge(left: ModelPath, right: ModelPath): number {
  return left.since - right.since || bySeniority(left.id, right.id);
}

/** A new path beside `parent`, named as "Forks" says, at the same node; it is listed but has not arrived. */
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

/** Ends a path, with its children; nothing happens if it has ended already. */
export function endPath(frame: Frame, path: ModelPath, reason: EndReason, isPatient = true): void {
  const place = frame.scope.paths.indexOf(path);
  if (place < 0) return;
  giveUpStep(frame, path);
  const mine = frame.scope.children.filter((candidate) => candidate.owner === path.id);
  if (letGo(frame, mine, isPatient)) {
    // it is gone for all but its children, and counts as ended when they have
    Object.assign(path, { draining: true, turn: path.turn + 1 });
    path.map!.next = Number.POSITIVE_INFINITY;
    return;
  }
  frame.scope.paths.splice(place, 1);
  count(frame.world.ended, reason);
}

/** Lets go of children before their time. True if some of them undo what they did, and go on with that. */
export function letGo(frame: Frame, children: readonly ModelChild[], isPatient = true): boolean {
  const undoing = isPatient ? children.filter(({ scope }) => (scope.ending?.undo.length ?? 0) > 0) : [];
  for (const child of children) {
    if (undoing.includes(child)) continue;
    // what it did, or may have done, may have to be undone with the rest
    for (const inner of allFrames(frameOfChild(frame, child))) for (const path of inner.scope.paths) giveUpStep(inner, path);
    frame.scope.effects.push(...effectsOf(frameOfChild(frame, child), `${child.key}>`));
    dropChild(frame, child);
  }
  return undoing.length > 0;
}

/** Remembers that the step of a path will not complete, and may have had an effect: of one node on one path only once. */
export function giveUpStep({ scope, world }: Frame, path: ModelPath): void {
  const { id, nodeId, visit } = path;
  const isNew = !scope.effects.some((effect) => !effect.completed && effect.path === id && effect.nodeId === nodeId);
  if (path.begun && isNew) scope.effects.push({ path: id, nodeId, visit, version: world.version, completed: false });
  path.begun = false;
}

/** What a child and those in it have done, or may have done, and not undone. */
function effectsOf(frame: Frame, prefix: string): Effect[] {
  const { ending, effects, children } = frame.scope;
  const own = (ending?.undo ?? effects).map((effect) => ({
    ...effect,
    path: prefix + effect.path,
  }));
  return [...own, ...children.flatMap((child) => effectsOf(frameOfChild(frame, child), `${prefix}${child.key}>`))];
}

/** Removes a child; the paths that it still has are orphaned, and so are those of its children. */
export function dropChild(frame: Frame, child: ModelChild): void {
  frame.scope.children.splice(frame.scope.children.indexOf(child), 1);
  const inner = frameOfChild(frame, child);
  for (const path of [...child.scope.paths]) endPath(inner, path, "orphaned", false);
}

/** Ends all paths of a scope, and with them its rounds and children ("Settling and status"). */
export function endAllPaths(frame: Frame, reason: EndReason, isPatient = true): void {
  for (const path of [...frame.scope.paths]) endPath(frame, path, reason, isPatient);
  frame.scope.rounds = [];
}

/** The scope of an open child, seen from its parent. */
export function frameOfChild(frame: Frame, child: ModelChild): Frame {
  const definition = workflowOf(frame, child.workflow);
  const chain = `${frame.chain}${child.key}>`;
  return { ...frame, definition, scope: child.scope, chain, label: `${frame.label}${child.workflow}/`, outer: frame };
}

/** A named workflow: of this definition, else of an enclosing one. */
export function workflowOf(frame: Frame, name: string): ModelDefinition {
  for (let place: Frame | null = frame; place; place = place.outer) {
    const found = place.definition.workflows?.[name];
    if (found) return found;
  }
  throw new RangeError(`no workflow ${name}`);
}

/** The frame and those of all open children: the root first, then children in key order, each with its own below. */
export function allFrames(frame: Frame): Frame[] {
  const children = frame.scope.children.toSorted((left, right) => bySeniority(left.key, right.key));
  return [frame, ...children.flatMap((child) => allFrames(frameOfChild(frame, child)))];
}

/** Adds one to a named count. */
export function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
