import type { ActivePath, Context } from "../snapshot/snapshot.ts";
import { isJsonObject, type JsonObject } from "../values/json.ts";
import { highestCount, invalid, isIn, lastMs } from "./read-number.ts";
import { readPath } from "./read-path.ts";
import type { Place } from "./read-place.ts";
import { list } from "./read-text.ts";
import { requireCompensation } from "./read-undo.ts";

/** The open paths of a scope from outside, checked; made from the classic fields where there are none. */
export function readPaths(scope: JsonObject, place: Place, context: Context): readonly ActivePath[] {
  const { activePaths } = scope;
  if (activePaths === undefined && place.scope === "") return Object.freeze(classicPaths(scope, place, context));
  const pointer = `${place.pointer}/activePaths`;
  const paths = list(activePaths, pointer).map((value, i) => readPath(value, `${pointer}/${i}`, place));
  checkIds(paths, pointer);
  for (const path of paths) requireNode(path, place);
  return Object.freeze(paths);
}

/** Checks that the definition, which may have changed, still has what a path does at its node. */
function requireNode({ nodeId, status, via, undoes }: ActivePath, place: Place): void {
  if (undoes) {
    requireCompensation(undoes, nodeId, place);
    return;
  }
  const found = place.workflow.nodes.get(nodeId);
  if (!found) place.lacks(nodeId);
  const { join, when, node } = found;
  if (status === "joining" && !join?.edges.some((edge) => edge.via === via)) place.lacks(nodeId);
  if (status === "held" && !when && node.mutex === undefined) place.lacks(nodeId);
}

/** Checks that no id occurs twice, and that no path will give an existing id to a fork. */
function checkIds(paths: readonly ActivePath[], pointer: string): void {
  const open = new Map<string, ActivePath>();
  for (const [i, path] of paths.entries()) {
    if (open.has(path.id)) invalid(`${pointer}/${i}/id`, "is the id of two paths");
    open.set(path.id, path);
  }
  for (const [i, { id }] of paths.entries())
    if (mayComeAgain(id, open)) invalid(`${pointer}/${i}/id`, "is an id that one of the other paths will still give");
}

/** Whether a path that is open would give an id to one of those that fork off it. */
export function mayComeAgain(id: string, open: ReadonlyMap<string, ActivePath>): boolean {
  for (let dot = id.indexOf("."); dot >= 0; dot = id.indexOf(".", dot + 1)) {
    const nth = Number(/^\d+/.exec(id.slice(dot + 1))?.[0]);
    const before = open.get(id.slice(0, dot));
    if (before && !(nth <= (before.forks ?? 0))) return true;
  }
  return false;
}

/** The one path of a classic snapshot, which has no paths: it stands at one node. */
function classicPaths(snapshot: JsonObject, { workflow, lacks }: Place, context: Context): ActivePath[] {
  const { status, currentNodeId, retryState, version } = snapshot;
  if (status !== "active" && status !== "paused" && status !== "error") return [];
  if (typeof currentNodeId !== "string") return invalid("/currentNodeId", `must name a node with status "${status}"`);
  if (!workflow.nodes.has(currentNodeId)) lacks(currentNodeId);
  const path = {
    id: "0",
    nodeId: currentNodeId,
    turn: 1,
    visit: 1,
    attempts: 0,
    since: version as number,
    stepPath: classicTrail(context, currentNodeId),
  };
  if (status === "active") return [Object.freeze({ ...path, status: "ready" })];
  if (status === "paused")
    return [
      Object.freeze({ ...path, status: "suspended", waits: Object.freeze([Object.freeze({ id: "0@1", kind: "external" as const })]) }),
    ];
  const { attempts, nextRetryAt } = isJsonObject(retryState) ? retryState : {};
  const failed = { ...path, status: "retrying" as const, attempts: isIn(attempts, highestCount) ? Math.floor(attempts) : 0 };
  return [Object.freeze(isIn(nextRetryAt, lastMs) ? { ...failed, nextRetryAt } : failed)];
}

/** The step path of a classic snapshot: the node that ended last. */
function classicTrail(context: Context, currentNodeId: string): readonly string[] {
  let last: { nodeId: string; timestamp: number } | undefined;
  for (const [nodeId, results] of Object.entries(context)) {
    const timestamp = results.at(-1)?.timestamp ?? -1;
    if (nodeId !== currentNodeId && timestamp >= (last?.timestamp ?? 0)) last = { nodeId, timestamp };
  }
  return Object.freeze(last ? [last.nodeId] : []);
}
