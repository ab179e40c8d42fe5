import { scopedKey } from "../snapshot/child-key.ts";
import type { ActivePath } from "../snapshot/snapshot.ts";
import type { Json, JsonObject } from "../values/json.ts";
import { bound, count, invalid, time } from "./read-number.ts";
import type { Place } from "./read-place.ts";
import { flag, list, object, optionalText, picked, text, texts } from "./read-text.ts";
import { checkUndo } from "./read-undo.ts";
import { checkResumed, checkWaits } from "./read-wait.ts";

const statuses = ["ready", "held", "joining", "retrying", "suspended"];
const fields = ["id", "nodeId", "status", "turn", "visit", "attempts", "since", "stepPath", "forks", "via", "waves", "inputs"];
const more = ["waits", "children", "draining", "nextRetryAt", "resumed", "undoes"];

/** One open path from outside, checked. */
export function readPath(value: Json, pointer: string, place: Place): ActivePath {
  const path = object(value, pointer);
  const { id, status, forks, via, inputs, resumed, undoes } = path;
  if (typeof id !== "string" || !/^[^/>@#\s]{1,64}$/.test(id)) return invalid(`${pointer}/id`, "must be the id of a path");
  text(path.nodeId, `${pointer}/nodeId`, "must be the id of a node");
  if (!statuses.includes(status as string)) return invalid(`${pointer}/status`, `must be one of ${statuses.join(", ")}`);
  const turn = count(path.turn, `${pointer}/turn`, 1);
  const visit = count(path.visit, `${pointer}/visit`, 1, turn);
  count(path.attempts, `${pointer}/attempts`);
  count(path.since, `${pointer}/since`, 0, place.version);
  if (forks !== undefined) count(forks, `${pointer}/forks`);
  optionalText({ via: via ?? "" }, ["via"], pointer);
  time(path.nextRetryAt, `${pointer}/nextRetryAt`);
  const stepPath = texts(path.stepPath ?? [], `${pointer}/stepPath`, "must be a list of node ids");
  if (status === "joining" && stepPath.length === 0) return invalid(`${pointer}/stepPath`, "must say where the path came from");
  checkSuspension(path, pointer, scopedKey(place.scope, `${id}@${turn}`));
  if (path.children !== undefined) checkChildren(path, pointer, `${id}#${visit}`, place);
  else if (flag(path.draining, `${pointer}/draining`)) return invalid(`${pointer}/draining`, "says nothing without children");
  if (resumed !== undefined) checkResumed(resumed, `${pointer}/resumed`);
  if (inputs !== undefined) checkInputs(inputs, `${pointer}/inputs`);
  if (undoes !== undefined) checkUndo(undoes, `${pointer}/undoes`, place);
  const waves = wavesOf(path.waves, `${pointer}/waves`, place);
  const { waves: _, ...rest } = picked(path, [...fields, ...more]);
  return Object.freeze({ ...rest, ...(waves && { waves }), stepPath }) as unknown as ActivePath;
}

/** Checks that a path is suspended exactly while it has waits or children. */
function checkSuspension({ status, waits, children, undoes }: JsonObject, pointer: string, name: string): void {
  if (waits !== undefined) checkWaits(waits, `${pointer}/waits`, name);
  if (status === "suspended" && waits === undefined && children === undefined)
    invalid(`${pointer}/waits`, "must say what the path waits for");
  if (waits !== undefined && (status !== "suspended" || children !== undefined))
    invalid(`${pointer}/waits`, "says that the path waits for something else than its status");
  if (children !== undefined && (status !== "suspended" || undoes !== undefined))
    invalid(`${pointer}/children`, "must belong to a path that waits for them");
}

/** Keeps only the waves of forks that the definition still has. */
function wavesOf(value: Json | undefined, pointer: string, { workflow: { nodes } }: Place): JsonObject | undefined {
  if (value === undefined) return undefined;
  const waves = object(value, pointer, "must be an object of visits, by node");
  texts(Object.values(waves), pointer, "must be an object of visits, by node");
  const known = Object.entries(waves).filter(([nodeId]) => nodes.get(nodeId)?.wave);
  return known.length > 0 ? Object.freeze(Object.fromEntries(known)) : undefined;
}

function checkInputs(value: Json, pointer: string): void {
  for (const [i, input] of list(value, pointer).entries()) {
    const { nodeId, version } = object(input, `${pointer}/${i}`, "must be a result by its node and version");
    text(nodeId, `${pointer}/${i}/nodeId`, "must name a node");
    count(version, `${pointer}/${i}/version`);
  }
}

/** @param name what the path's own children are called; those it only lets finish may have been begun by another path */
function checkChildren(path: JsonObject, at: string, name: string, { workflow: { workflows } }: Place): void {
  const pointer = `${at}/children`;
  const { key, workflow, map } = object(path.children, pointer, "must be an object with key and workflow");
  const isDraining = flag(path.draining, `${at}/draining`);
  const isKey = isDraining ? typeof key === "string" && /^[^/>@#\s]{1,64}#[1-9]\d{0,15}$/.test(key) : key === name;
  if (!isKey) invalid(`${pointer}/key`, `must be the key of a path${isDraining ? "" : `: "${name}"`}`);
  if (typeof workflow !== "string" || workflows.get(workflow)?.starts.length !== 1)
    invalid(`${pointer}/workflow`, "must name a workflow of the definition, with one first node");
  if (map !== undefined) checkMap(map, `${pointer}/map`);
}

function checkMap(value: Json, pointer: string): void {
  const map = object(value, pointer);
  const total = count(map.total, `${pointer}/total`);
  count(map.next, `${pointer}/next`, 0, total);
  const over = ["done", "failed", "cancelled"].reduce((sum, key) => sum + count(map[key], `${pointer}/${key}`), 0);
  if (over > total) invalid(`${pointer}/total`, "must be as high as items have ended");
  bound(map.concurrency, `${pointer}/concurrency`, 1);
  if (!(typeof map.tolerated === "number" && map.tolerated >= 0)) invalid(`${pointer}/tolerated`, "must be a number from 0 on");
  if (map.remaining !== "finish" && map.remaining !== "cancel") invalid(`${pointer}/remaining`, "must be finish or cancel");
  if (map.completeWhen !== undefined) bound(map.completeWhen, `${pointer}/completeWhen`);
  flag(map.open, `${pointer}/open`);
}
