import type { CompiledWorkflow } from "./compiled.ts";
import { isWorkflowId } from "./id.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { readChildren } from "./read-children.ts";
import { counter, invalid } from "./read-number.ts";
import { readScope } from "./read-scope.ts";
import type { Snapshot } from "./snapshot.ts";
import { StepfoldError } from "./stepfold-error.ts";
import { plainJson } from "./to-json.ts";

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
  const { schema = 1, workflowId, version, metadata = {} } = plain;
  if (typeof schema !== "number" || !Number.isSafeInteger(schema) || schema < 1)
    return invalid("/schema", "must be a whole number from 1 on");
  if (schema > 1) throw new StepfoldError("SNAPSHOT_TOO_NEW", { schema, supported: 1 });
  if (!isWorkflowId(workflowId)) return invalid("/workflowId", "must be text of 1 to 255 printable characters");
  if (!Number.isSafeInteger(version) || (version as number) < 0 || (version as number) > highestVersion)
    return invalid("/version", "must be a whole number from 0 to 2^53 - 2");
  if (!isJsonObject(metadata)) return invalid("/metadata", "must be an object");
  const scope = readScope(plain, "", workflow, String(workflowId));
  const children = readChildren(plain, workflow, String(workflowId));
  return Object.freeze({
    ...optional(plain),
    ...scope,
    ...children,
    schema: 1,
    workflowId,
    definition: readDefinition(plain.definition, workflow),
    version: version as number,
    metadata,
    steps: counter(plain.steps, "/steps") ?? Object.values(scope.context).reduce((sum, results) => sum + results.length, 0),
    sizeBytes: counter(plain.sizeBytes, "/sizeBytes") ?? sizeBytes,
  });
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
  for (const key of ["lastStartedAt", "totalExecutionTime", "createdAt"]) {
    const time = counter(plain[key], `/${key}`);
    if (time !== undefined) fields[key] = time;
  }
  if (isJsonObject(plain.retryState)) fields.retryState = plain.retryState;
  if (typeof plain.incarnation === "string") fields.incarnation = plain.incarnation;
  if (plain.inbox !== undefined) fields.inbox = readInbox(plain.inbox);
  if (plain.compensations !== undefined) fields.compensations = readCompensations(plain.compensations);
  return fields as Partial<Snapshot>;
}

function readInbox(value: Json): Json {
  if (!Array.isArray(value)) return invalid("/inbox", "must be a list of signals");
  for (const [i, signal] of (value as Json[]).entries()) {
    if (!isJsonObject(signal) || typeof signal.name !== "string" || typeof signal.expiresAt !== "number")
      return invalid(`/inbox/${i}`, "must be an object with name and expiresAt");
  }
  return value;
}

function readCompensations(value: Json): Json {
  if (!Array.isArray(value)) return invalid("/compensations", "must be a list of results");
  for (const [i, done] of (value as Json[]).entries())
    if (!isJsonObject(done) || !isJsonObject(done.undoes)) return invalid(`/compensations/${i}`, "must say what it undoes");
  return value;
}
