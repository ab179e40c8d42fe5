import type { CompiledWorkflow } from "./compiled.ts";
import { isId, isWorkflowId } from "./id.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { pointerOf } from "./pointer.ts";
import { readPaths } from "./read-paths.ts";
import { type Context, isTerminal, type NodeResult, type Snapshot, type Status } from "./snapshot.ts";
import { StepfoldError } from "./stepfold-error.ts";
import { plainJson } from "./to-json.ts";

const statuses = ["active", "paused", "error", "completed", "failed", "cancelled"];
/** Leaves room for one more transition: beyond it, adding 1 no longer counts. */
const highestVersion = Number.MAX_SAFE_INTEGER - 1;

/**
 * A snapshot from outside, checked and in today's format. Older ones are converted: one with only the classic
 * fields gets its path from `currentNodeId`.
 *
 * @throws StepfoldError `SNAPSHOT_INVALID` with the JSON pointer, `SNAPSHOT_TOO_NEW`, `VALUE_NOT_JSON`
 */
export function readSnapshot(value: unknown, workflow: CompiledWorkflow, limits: Limits = defaultLimits): Snapshot {
  const boundless = {
    ...limits,
    depth: limits.depth + 16,
    keys: Number.POSITIVE_INFINITY,
    valueBytes: Number.POSITIVE_INFINITY,
    stringLength: Number.POSITIVE_INFINITY,
  };
  const { value: plain, sizeBytes } = plainJson(value, "The snapshot", boundless);
  if (!isJsonObject(plain)) return invalid("", "must be an object");
  const { schema = 1, workflowId, status, version, metadata = {} } = plain;
  if (typeof schema !== "number" || !Number.isSafeInteger(schema) || schema < 1)
    return invalid("/schema", "must be a whole number from 1 on");
  if (schema > 1) throw new StepfoldError("SNAPSHOT_TOO_NEW", { schema, supported: 1 });
  if (!isWorkflowId(workflowId)) return invalid("/workflowId", "must be text of 1 to 255 printable characters");
  if (!statuses.includes(status as string)) return invalid("/status", `must be one of ${statuses.join(", ")}`);
  if (!Number.isSafeInteger(version) || (version as number) < 0 || (version as number) > highestVersion)
    return invalid("/version", "must be a whole number from 0 to 2^53 - 2");
  if (!isJsonObject(metadata)) return invalid("/metadata", "must be an object");
  const context = readContext(plain.context);
  const activePaths = readPaths(plain, workflow, context);
  if (isTerminal(status as Status) !== (activePaths.length === 0))
    return invalid("/activePaths", `cannot be${activePaths.length ? "" : " empty"} with status "${status}"`);
  return Object.freeze({
    ...optional(plain),
    schema: 1,
    workflowId,
    definition: readDefinition(plain.definition, workflow),
    status: status as Status,
    currentNodeId: typeof plain.currentNodeId === "string" ? plain.currentNodeId : null,
    activePaths,
    context,
    version: version as number,
    metadata,
    steps: counter(plain.steps, "/steps") ?? Object.values(context).reduce((sum, results) => sum + results.length, 0),
    sizeBytes: counter(plain.sizeBytes, "/sizeBytes") ?? sizeBytes,
  });
}

function readContext(value: Json | undefined): Context {
  if (value === undefined) return Object.freeze({});
  if (!isJsonObject(value)) return invalid("/context", "must be an object of result lists, by node id");
  const context: Record<string, readonly NodeResult[]> = {};
  for (const [nodeId, results] of Object.entries(value)) {
    const pointer = pointerOf(["context", nodeId]);
    if (!isId(nodeId)) return invalid(pointer, "is no node id");
    if (!Array.isArray(results)) return invalid(pointer, "must be a list of results");
    context[nodeId] = Object.freeze(results.map((result: Json, i) => readResult(result, `${pointer}/${i}`)));
  }
  return Object.freeze(context);
}

function readResult(value: Json, pointer: string): NodeResult {
  if (!isJsonObject(value)) return invalid(pointer, "must be an object with output and timestamp");
  const { output = null, error, pathId = "0" } = value;
  if (error !== undefined && typeof error !== "string") return invalid(`${pointer}/error`, "must be text");
  if (typeof pathId !== "string") return invalid(`${pointer}/pathId`, "must be text");
  // classic results know no path, version or attempt: they are older than whatever comes
  const result = {
    output,
    timestamp: counter(value.timestamp, `${pointer}/timestamp`) ?? 0,
    attempt: counter(value.attempt, `${pointer}/attempt`) ?? 1,
    pathId,
    version: counter(value.version, `${pointer}/version`) ?? 0,
  };
  return Object.freeze(error === undefined ? result : { ...result, error });
}

function readDefinition(value: Json | undefined, workflow: CompiledWorkflow): Snapshot["definition"] {
  if (value === undefined) return { id: workflow.definition.id, hash: workflow.hash };
  if (!isJsonObject(value) || typeof value.id !== "string" || typeof value.hash !== "string")
    return invalid("/definition", "must be an object with id and hash");
  return value as Snapshot["definition"];
}

/** Fields that may be missing, where they have the right type. */
function optional(plain: JsonObject): Partial<Snapshot> {
  const fields: Record<string, Json> = {};
  for (const key of ["input", "output"]) if (plain[key] !== undefined) fields[key] = plain[key];
  for (const key of ["lastStartedAt", "totalExecutionTime", "createdAt"]) {
    const time = counter(plain[key], `/${key}`);
    if (time !== undefined) fields[key] = time;
  }
  if (plain.error !== undefined) {
    if (!isJsonObject(plain.error) || typeof plain.error.message !== "string") return invalid("/error", "must be an object with a message");
    fields.error = plain.error;
  }
  if (isJsonObject(plain.retryState)) fields.retryState = plain.retryState;
  if (typeof plain.incarnation === "string") fields.incarnation = plain.incarnation;
  return fields as Partial<Snapshot>;
}

function counter(value: Json | undefined, pointer: string): number | undefined {
  if (value === undefined || (typeof value === "number" && value >= 0)) return value;
  return invalid(pointer, "must be a number from 0 on");
}

function invalid(pointer: string, reason: string): never {
  throw new StepfoldError("SNAPSHOT_INVALID", { pointer, reason });
}
