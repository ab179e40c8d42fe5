import type { CompiledWorkflow } from "./compiled.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { invalid, whole } from "./read-number.ts";
import type { ActivePath, Wait } from "./snapshot.ts";

const statuses = ["ready", "held", "joining", "retrying", "suspended"];
const kinds = ["external", "signal", "timer", "child"];

/** One open path from outside, checked. */
export function readPath(value: Json, pointer: string, workflow: CompiledWorkflow): ActivePath {
  if (!isJsonObject(value)) return invalid(pointer, "must be an object");
  const { id, nodeId, status, stepPath = [], waits, children, via, inputs, undoes } = value;
  if (typeof id !== "string" || id === "" || id.length > 64) return invalid(`${pointer}/id`, "must be text");
  if (typeof nodeId !== "string") return invalid(`${pointer}/nodeId`, "must be the id of a node");
  if (!statuses.includes(status as string)) return invalid(`${pointer}/status`, `must be one of ${statuses.join(", ")}`);
  for (const key of ["turn", "visit", "attempts", "since"]) whole(value[key], `${pointer}/${key}`);
  for (const key of ["forks", "nextRetryAt"]) if (value[key] !== undefined) whole(value[key], `${pointer}/${key}`);
  if (via !== undefined && typeof via !== "string") return invalid(`${pointer}/via`, "must name an edge");
  if (!isTextList(stepPath)) return invalid(`${pointer}/stepPath`, "must be a list of node ids");
  if (status === "suspended" && children === undefined && !(Array.isArray(waits) && waits.length > 0))
    return invalid(`${pointer}/waits`, "must say what the path waits for");
  if (waits !== undefined && !Array.isArray(waits)) return invalid(`${pointer}/waits`, "must be a list");
  for (const [i, wait] of ((waits ?? []) as Json[]).entries()) checkWait(wait, `${pointer}/waits/${i}`);
  if (children !== undefined) checkChildren(children, `${pointer}/children`, workflow);
  if (value.resumed !== undefined && !isJsonObject(value.resumed)) return invalid(`${pointer}/resumed`, "must be an object");
  if (inputs !== undefined) checkInputs(inputs, `${pointer}/inputs`);
  if (undoes !== undefined && !(isJsonObject(undoes) && workflow.nodes.has(nodeId)))
    return invalid(`${pointer}/undoes`, "must be an object");
  const { waves: _, ...rest } = value;
  const waves = wavesOf(value.waves, `${pointer}/waves`, workflow);
  return Object.freeze({ ...rest, ...(waves && { waves }), stepPath }) as unknown as ActivePath;
}

/** Of a changed definition, only the forks that still are any. */
function wavesOf(value: Json | undefined, pointer: string, { nodes }: CompiledWorkflow): JsonObject | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value) || !isTextList(Object.values(value))) return invalid(pointer, "must be an object of visits, by node");
  const known = Object.entries(value).filter(([nodeId]) => nodes.get(nodeId)?.wave);
  return known.length > 0 ? Object.freeze(Object.fromEntries(known)) : undefined;
}

function checkInputs(value: Json, pointer: string): void {
  if (!Array.isArray(value)) invalid(pointer, "must be a list");
  for (const [i, input] of (value as Json[]).entries()) {
    if (!isJsonObject(input) || typeof input.nodeId !== "string") invalid(`${pointer}/${i}`, "must name a node");
    whole((input as JsonObject).version, `${pointer}/${i}/version`);
  }
}

function checkWait(value: Json, pointer: string): void {
  const wait = value as unknown as Wait;
  if (!isJsonObject(value) || typeof wait.id !== "string") invalid(pointer, "must be an object with an id");
  if (!kinds.includes(wait.kind)) invalid(`${pointer}/kind`, `must be one of ${kinds.join(", ")}`);
  if (wait.kind === "signal" && typeof wait.signal !== "string") invalid(`${pointer}/signal`, "must name a signal");
  if (wait.schema !== undefined && typeof wait.schema !== "boolean" && !isJsonObject(wait.schema))
    invalid(`${pointer}/schema`, "must be a JSON Schema");
  for (const key of ["resumeAt", "timeoutAt", "quorum"] as const)
    if (wait[key] !== undefined) whole(wait[key] as Json, `${pointer}/${key}`);
  if (wait.responders !== undefined && !isTextList(wait.responders as Json)) invalid(`${pointer}/responders`, "must be a list of names");
  if (
    wait.answers !== undefined &&
    !(Array.isArray(wait.answers) && wait.answers.every((given) => isJsonObject(given) && typeof given.by === "string"))
  )
    invalid(`${pointer}/answers`, "must be a list of answers");
}

function checkChildren(value: Json, pointer: string, { workflows }: CompiledWorkflow): void {
  if (!isJsonObject(value)) invalid(pointer, "must be an object with key and workflow");
  const { key, workflow, map } = value;
  if (typeof key !== "string" || !/^[^/>]{1,64}#\d{1,16}$/.test(key)) invalid(`${pointer}/key`, "must be the key of a path");
  if (typeof workflow !== "string" || !workflows.has(workflow)) invalid(`${pointer}/workflow`, "must name a workflow of the definition");
  if (map === undefined) return;
  if (!isJsonObject(map)) invalid(`${pointer}/map`, "must be an object");
  for (const count of ["total", "next", "done", "failed", "cancelled"]) whole(map[count], `${pointer}/map/${count}`);
  if (!(typeof map.concurrency === "number" && map.concurrency >= 1)) invalid(`${pointer}/map/concurrency`, "must be a number from 1 on");
  if (!(typeof map.tolerated === "number" && map.tolerated >= 0)) invalid(`${pointer}/map/tolerated`, "must be a number from 0 on");
  if (map.remaining !== "finish" && map.remaining !== "cancel") invalid(`${pointer}/map/remaining`, "must be finish or cancel");
  if (map.completeWhen !== undefined) whole(map.completeWhen, `${pointer}/map/completeWhen`);
}

function isTextList(value: Json): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}
