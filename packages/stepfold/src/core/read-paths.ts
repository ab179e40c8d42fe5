import type { CompiledWorkflow } from "./compiled.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import type { ActivePath, Context, Wait } from "./snapshot.ts";
import { StepfoldError } from "./stepfold-error.ts";

/** The open paths of a snapshot from outside, checked; made from the classic fields where there are none. */
export function readPaths(snapshot: JsonObject, workflow: CompiledWorkflow, context: Context): readonly ActivePath[] {
  const { activePaths } = snapshot;
  if (activePaths === undefined) return Object.freeze(classicPaths(snapshot, workflow, context));
  if (!Array.isArray(activePaths)) return invalid("/activePaths", "must be a list");
  const ids = new Set<string>();
  return Object.freeze(
    activePaths.map((value: Json, i) => {
      const path = readPath(value, `/activePaths/${i}`);
      if (ids.has(path.id)) return invalid(`/activePaths/${i}/id`, "is the id of two paths");
      ids.add(path.id);
      requireNode(workflow, snapshot, path.nodeId);
      return path;
    }),
  );
}

/** R1 for a snapshot of before there were paths: it stood at one node, in one way. */
function classicPaths(snapshot: JsonObject, workflow: CompiledWorkflow, context: Context): ActivePath[] {
  const { status, currentNodeId, retryState, version } = snapshot;
  if (status !== "active" && status !== "paused" && status !== "error") return [];
  if (typeof currentNodeId !== "string") return invalid("/currentNodeId", `must name a node with status "${status}"`);
  requireNode(workflow, snapshot, currentNodeId);
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

function readPath(value: Json, pointer: string): ActivePath {
  if (!isJsonObject(value)) return invalid(pointer, "must be an object");
  const { id, nodeId, status, stepPath = [], waits } = value;
  if (typeof id !== "string" || id === "" || id.length > 64) return invalid(`${pointer}/id`, "must be text");
  if (typeof nodeId !== "string") return invalid(`${pointer}/nodeId`, "must be the id of a node");
  if (status !== "ready" && status !== "retrying" && status !== "suspended")
    return invalid(`${pointer}/status`, "must be ready, retrying or suspended");
  for (const key of ["turn", "visit", "attempts", "since"]) whole(value[key], `${pointer}/${key}`);
  for (const key of ["forks", "nextRetryAt"]) if (value[key] !== undefined) whole(value[key], `${pointer}/${key}`);
  if (!Array.isArray(stepPath) || stepPath.some((step) => typeof step !== "string"))
    return invalid(`${pointer}/stepPath`, "must be a list of node ids");
  if (status === "suspended" && !(Array.isArray(waits) && waits.length > 0))
    return invalid(`${pointer}/waits`, "must say what the path waits for");
  if (waits !== undefined && !Array.isArray(waits)) return invalid(`${pointer}/waits`, "must be a list");
  for (const [i, wait] of (waits ?? []).entries()) checkWait(wait, `${pointer}/waits/${i}`);
  if (value.resumed !== undefined && !isJsonObject(value.resumed)) return invalid(`${pointer}/resumed`, "must be an object");
  return Object.freeze({ ...value, stepPath }) as unknown as ActivePath;
}

function checkWait(value: Json, pointer: string): void {
  const wait = value as unknown as Wait;
  if (!isJsonObject(value) || typeof wait.id !== "string") invalid(pointer, "must be an object with an id");
  if (wait.kind !== "external" && wait.kind !== "timer") invalid(`${pointer}/kind`, "must be external or timer");
  if (wait.schema !== undefined && typeof wait.schema !== "boolean" && !isJsonObject(wait.schema))
    invalid(`${pointer}/schema`, "must be a JSON Schema");
  for (const key of ["resumeAt", "timeoutAt"] as const) if (wait[key] !== undefined) whole(wait[key], `${pointer}/${key}`);
}

function requireNode(workflow: CompiledWorkflow, { workflowId, definition }: JsonObject, nodeId: string): void {
  if (workflow.nodes.has(nodeId)) return;
  const actual = isJsonObject(definition) && typeof definition.hash === "string" ? definition.hash : "?";
  throw new StepfoldError("DEFINITION_CHANGED", { workflowId: String(workflowId), expected: workflow.hash, actual, missing: [nodeId] });
}

function whole(value: Json | undefined, pointer: string): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0) invalid(pointer, "must be a whole number from 0 on");
}

function invalid(pointer: string, reason: string): never {
  throw new StepfoldError("SNAPSHOT_INVALID", { pointer, reason });
}
