import { edgeAt, edgesFrom, isJoin, nodeOf } from "./model-definition.fixture.ts";
import { failScope, terminateScope } from "./model-endings.fixture.ts";
import { joinsOfFork, reachesJoinOfFork, waveAt } from "./model-graph.fixture.ts";
import {
  branchOff,
  count,
  endPath,
  type Frame,
  giveUpStep,
  type ModelError,
  type ModelPath,
  type ResultReference,
} from "./model-state.fixture.ts";

/** Moves a path to a node. `via` is the number of its edge, or null for the first path of a scope. At a join the path waits. */
export function arrive(frame: Frame, path: ModelPath, nodeId: string, via: number | null): void {
  path.nodeId = nodeId;
  path.via = via;
  beginVisit(frame, path);
  for (const fork of Object.keys(path.waves)) if (!reachesJoinOfFork(frame.definition, nodeId, fork)) delete path.waves[fork];
  if (via !== null && isJoin(nodeOf(frame.definition, nodeId))) waitAtJoin(frame, path);
  else enter(frame, path);
}

function waitAtJoin(frame: Frame, path: ModelPath): void {
  path.status = "joining";
  const arrival = `${path.via}|${waveAt(frame.definition, path.nodeId, path)}`;
  count(frame.scope.arrivals, arrival);
  if ((frame.scope.arrivals[arrival] ?? 0) > 1) frame.world.overruns += 1;
}

/** Begins a visit of a path that has arrived, or whose join has fired ("Paths and their names"). */
export function beginVisit(frame: Frame, path: ModelPath): void {
  path.turn += 1;
  Object.assign(path, { visit: path.turn, since: frame.world.version, attempts: 0, touched: false, offered: false, begun: false });
}

/** Makes a path ready at its node, or holds the path if the node has a mutex or a milestone ("Cancels, mutexes and milestones"). */
export function enter(frame: Frame, path: ModelPath): void {
  const node = nodeOf(frame.definition, path.nodeId);
  path.status = node.mutex !== undefined || node.when !== undefined ? "held" : "ready";
  count(frame.world.firings, frame.label + node.id);
}

/** Takes the edges of these handles. The path itself takes the first edge, a new path each other edge ("Forks" and "Waves"). */
function leave(frame: Frame, path: ModelPath, handles: readonly string[]): void {
  const edges = handles.flatMap((handle) => edgesFrom(frame.definition, path.nodeId, handle));
  if (edges.length === 0) endPath(frame, path, "end");
  if (joinsOfFork(frame.definition, path.nodeId).length > 0) path.waves[path.nodeId] = `${path.id}#${path.visit}`;
  const movers = edges.map((_, index) => (index === 0 ? path : branchOff(frame, path)));
  for (const [index, mover] of movers.entries()) {
    const edge = edges[index];
    if (edge !== undefined) arrive(frame, mover, edgeAt(frame.definition, edge).target, edge);
  }
}

/** Completes a node: first its `cancels` act, then the path goes on or the scope ends ("Cancels, mutexes and milestones"). */
export function complete(frame: Frame, path: ModelPath, handles: readonly string[], terminate: boolean): void {
  const { scope, world } = frame;
  const node = nodeOf(frame.definition, path.nodeId);
  count(scope.done, node.id);
  path.begun = false;
  if (node.compensate) {
    scope.effects.push({ path: path.id, nodeId: node.id, visit: path.visit, version: world.version, completed: true });
  }
  Object.assign(path, { from: [resultOf(frame, path)], waits: [], map: null });
  for (const other of [...scope.paths]) if (other !== path && node.cancels?.includes(other.nodeId)) endPath(frame, other, "cancels");
  if (terminate) terminateScope(frame, path);
  else leave(frame, path, handles);
}

/** Handles a node that has failed for good: the path takes the `error` edges, or without such an edge the scope fails. */
export function failNode(frame: Frame, path: ModelPath, error: ModelError): void {
  giveUpStep(frame, path);
  if (edgesFrom(frame.definition, path.nodeId, "error").length === 0) {
    failScope(frame, path, error);
  } else {
    Object.assign(path, { from: [resultOf(frame, path)], waits: [], map: null });
    leave(frame, path, ["error"]);
  }
}

/** Makes a suspended or retrying path ready again, and withdraws all its waits. */
export function resume(path: ModelPath): void {
  path.turn += 1;
  Object.assign(path, { status: "ready", waits: [], touched: true, offered: false });
}

function resultOf(frame: Frame, path: ModelPath): ResultReference {
  return [path.nodeId, path.id, frame.world.version];
}
