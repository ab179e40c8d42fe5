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

/** The path comes to a node, by an edge or (null) as the first of its scope; at a join it waits. */
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

/** Begins a visit: a path has arrived, or its join has fired ("Paths and their names"). */
export function beginVisit(frame: Frame, path: ModelPath): void {
  path.turn += 1;
  Object.assign(path, { visit: path.turn, since: frame.world.version, attempts: 0, touched: false, offered: false, begun: false });
}

/** Makes a path ready at its node, or holds it before it ("Cancels, mutexes and milestones"). */
export function enter(frame: Frame, path: ModelPath): void {
  const node = nodeOf(frame.definition, path.nodeId);
  path.status = node.mutex !== undefined || node.when !== undefined ? "held" : "ready";
  count(frame.world.firings, frame.label + node.id);
}

/** Takes the edges of these handles: the first by the path itself, each other one by a new path ("Forks" and "Waves"). */
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

/** Completes a node: its `cancels` act, then the path goes on, or the scope ends ("Cancels, mutexes and milestones"). */
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

/** The node has failed for good: by its `error` edges if it has any, else the failure is the scope's. */
export function failNode(frame: Frame, path: ModelPath, error: ModelError): void {
  giveUpStep(frame, path);
  if (edgesFrom(frame.definition, path.nodeId, "error").length === 0) {
    failScope(frame, path, error);
  } else {
    Object.assign(path, { from: [resultOf(frame, path)], waits: [], map: null });
    leave(frame, path, ["error"]);
  }
}

/** A suspended path goes on: all its waits are withdrawn. */
export function resume(path: ModelPath): void {
  path.turn += 1;
  Object.assign(path, { status: "ready", waits: [], touched: true, offered: false });
}

function resultOf(frame: Frame, path: ModelPath): ResultReference {
  return [path.nodeId, path.id, frame.world.version];
}
