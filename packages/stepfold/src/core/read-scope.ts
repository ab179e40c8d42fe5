import type { CompiledWorkflow } from "./compiled.ts";
import { isId } from "./id.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { pointerOf } from "./pointer.ts";
import { counter, invalid } from "./read-number.ts";
import { readPaths } from "./read-paths.ts";
import { type Context, isTerminal, type NodeResult, type ScopeHead, type Status } from "./snapshot.ts";

const statuses = ["active", "paused", "error", "completed", "failed", "cancelled"];

/**
 * What every scope has, of a snapshot from outside, checked.
 */
export function readScope(
  plain: JsonObject,
  pointer: string,
  workflow: CompiledWorkflow,
  workflowId: string,
): Omit<ScopeHead, "version"> & { readonly context: Context } {
  const { status } = plain;
  if (!statuses.includes(status as string)) return invalid(`${pointer}/status`, `must be one of ${statuses.join(", ")}`);
  const context = readContext(plain.context, pointer);
  const activePaths = readPaths(plain, pointer, workflow, workflowId, context);
  if (isTerminal(status as Status) !== (activePaths.length === 0))
    return invalid(`${pointer}/activePaths`, `cannot be${activePaths.length ? "" : " empty"} with status "${status}"`);
  const scope = {
    ...fieldsOf(plain, pointer, workflow),
    status: status as Status,
    currentNodeId: typeof plain.currentNodeId === "string" ? plain.currentNodeId : null,
    activePaths,
    context,
  };
  if (activePaths.some(({ undoes }) => undoes) !== (scope.ending !== undefined))
    return invalid(`${pointer}/ending`, "must be there exactly where something is being undone");
  return scope;
}

function fieldsOf(plain: JsonObject, pointer: string, workflow: CompiledWorkflow): Partial<ScopeHead> {
  const fields: Record<string, Json> = {};
  for (const key of ["input", "output"]) if (plain[key] !== undefined) fields[key] = plain[key];
  const { error, rounds, ending } = plain;
  if (error !== undefined) {
    if (!isJsonObject(error) || typeof error.message !== "string") return invalid(`${pointer}/error`, "must be an object with a message");
    fields.error = error;
  }
  if (rounds !== undefined) fields.rounds = readRounds(rounds, `${pointer}/rounds`, workflow);
  if (ending !== undefined) {
    const sound = isJsonObject(ending) && (ending.status === "failed" || ending.status === "cancelled") && Array.isArray(ending.begun);
    if (!sound) return invalid(`${pointer}/ending`, "must be an object with status and begun");
    fields.ending = ending;
  }
  return fields as Partial<ScopeHead>;
}

function readRounds(value: Json, pointer: string, workflow: CompiledWorkflow): JsonObject {
  if (!isJsonObject(value)) return invalid(pointer, "must be an object of rounds, by node and wave");
  for (const [key, round] of Object.entries(value)) {
    if (!workflow.nodes.get(key.slice(0, key.indexOf("|")))?.join) return invalid(pointerInto(pointer, key), "is a round of no join");
    if (!isJsonObject(round) || !Array.isArray(round.got)) return invalid(pointerInto(pointer, key), "must be an object with got");
  }
  return value;
}

function readContext(value: Json | undefined, at: string): Context {
  if (value === undefined) return Object.freeze({});
  if (!isJsonObject(value)) return invalid(`${at}/context`, "must be an object of result lists, by node id");
  const context: Record<string, readonly NodeResult[]> = {};
  for (const [nodeId, results] of Object.entries(value)) {
    const pointer = pointerInto(`${at}/context`, nodeId);
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

function pointerInto(pointer: string, key: string): string {
  return pointer + pointerOf([key]);
}
