import type { CompiledWorkflow } from "./compiled.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { invalid } from "./read-number.ts";
import { readPath } from "./read-path.ts";
import type { ActivePath, Context } from "./snapshot.ts";
import { StepfoldError } from "./stepfold-error.ts";

/** The open paths of a scope from outside, checked; made from the classic fields where there are none. */
export function readPaths(
  scope: JsonObject,
  at: string,
  workflow: CompiledWorkflow,
  workflowId: string,
  context: Context,
): readonly ActivePath[] {
  const { activePaths } = scope;
  const requireNode = (nodeId: string, found: boolean = workflow.nodes.has(nodeId)): void => {
    if (found) return;
    const { definition } = scope;
    const actual = isJsonObject(definition) && typeof definition.hash === "string" ? definition.hash : "?";
    throw new StepfoldError("DEFINITION_CHANGED", { workflowId, expected: workflow.hash, actual, missing: [nodeId] });
  };
  if (activePaths === undefined && at === "") return Object.freeze(classicPaths(scope, requireNode, context));
  if (!Array.isArray(activePaths)) return invalid(`${at}/activePaths`, "must be a list");
  const ids = new Set<string>();
  return Object.freeze(
    activePaths.map((value: Json, i) => {
      const path = readPath(value, `${at}/activePaths/${i}`, workflow);
      if (ids.has(path.id)) return invalid(`${at}/activePaths/${i}/id`, "is the id of two paths");
      ids.add(path.id);
      const node = workflow.nodes.get(path.nodeId);
      requireNode(path.nodeId, node && (path.status !== "joining" || node.join?.edges.some(({ via }) => via === path.via)));
      return path;
    }),
  );
}

/** R1 for a snapshot of before there were paths: it stood at one node, in one way. */
function classicPaths(snapshot: JsonObject, requireNode: (nodeId: string) => void, context: Context): ActivePath[] {
  const { status, currentNodeId, retryState, version } = snapshot;
  if (status !== "active" && status !== "paused" && status !== "error") return [];
  if (typeof currentNodeId !== "string") return invalid("/currentNodeId", `must name a node with status "${status}"`);
  requireNode(currentNodeId);
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
  const failed = { ...path, status: "retrying" as const, attempts: typeof attempts === "number" && attempts >= 0 ? attempts : 0 };
  return [Object.freeze(typeof nextRetryAt === "number" ? { ...failed, nextRetryAt } : failed)];
}

/** The node that ended last stands for the way the path came. */
function classicTrail(context: Context, currentNodeId: string): readonly string[] {
  let last: { nodeId: string; timestamp: number } | undefined;
  for (const [nodeId, results] of Object.entries(context)) {
    const timestamp = results.at(-1)?.timestamp ?? -1;
    if (nodeId !== currentNodeId && timestamp >= (last?.timestamp ?? 0)) last = { nodeId, timestamp };
  }
  return Object.freeze(last ? [last.nodeId] : []);
}
