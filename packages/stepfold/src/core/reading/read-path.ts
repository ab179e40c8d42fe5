import { scopedKey } from "../snapshot/address.ts";
import type { Resumed } from "../snapshot/parts/wait.ts";
import type { ActivePath, Context } from "../snapshot/snapshot.ts";
import { isWorkflowId } from "../values/ids/id.ts";
import { isJsonObject, type Json, type JsonObject } from "../values/json.ts";
import { lastMs } from "../values/timestamp.ts";
import { checkActed, checkUndo, checkUndoneBy, requireCompensation } from "./read-undo.ts";
import {
  bound,
  count,
  flag,
  highestCount,
  invalid,
  isIn,
  list,
  object,
  oldestVersion,
  optionalText,
  picked,
  type ReadContext,
  readError,
  text,
  texts,
  time,
} from "./read-value.ts";

/** Checks and returns the open paths of a scope. For a classic snapshot, which has no such list, a path is made of its other fields. */
export function readPaths(scope: JsonObject, place: ReadContext, context: Context): readonly ActivePath[] {
  const { activePaths } = scope;
  if (activePaths === undefined && place.scope === "") return Object.freeze(classicPaths(scope, place, context));
  const pointer = `${place.pointer}/activePaths`;
  const paths = list(activePaths, pointer).map((value, i) => readPath(value, `${pointer}/${i}`, place));
  checkIds(paths, pointer);
  for (const path of paths) requireNode(path, place);
  return Object.freeze(paths);
}

/** Checks that the definition, which may have changed, still has the node of a path, and the join, hold or compensation that it needs. */
function requireNode({ nodeId, status, via, undoes }: ActivePath, place: ReadContext): void {
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
    if (mayComeAgain(id, open)) invalid(`${pointer}/${i}/id`, "is an id that another open path will give to a new path");
}

/** Whether an open path will give this id to a path that forks off it. */
export function mayComeAgain(id: string, open: ReadonlyMap<string, ActivePath>): boolean {
  for (let dot = id.indexOf("."); dot >= 0; dot = id.indexOf(".", dot + 1)) {
    const nth = Number(/^\d+/.exec(id.slice(dot + 1))?.[0]);
    const before = open.get(id.slice(0, dot));
    if (before && !(nth <= (before.forks ?? 0))) return true;
  }
  return false;
}

/** Returns the path of a classic snapshot, which stands at one node and has no list of paths; an empty list if it has ended. */
function classicPaths(snapshot: JsonObject, { workflow, lacks }: ReadContext, context: Context): ActivePath[] {
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

/** Returns the step path of a classic snapshot: the other node with the latest result. */
function classicTrail(context: Context, currentNodeId: string): readonly string[] {
  let last: { nodeId: string; timestamp: number } | undefined;
  for (const [nodeId, results] of Object.entries(context)) {
    const timestamp = results.at(-1)?.timestamp ?? -1;
    if (nodeId !== currentNodeId && timestamp >= (last?.timestamp ?? 0)) last = { nodeId, timestamp };
  }
  return Object.freeze(last ? [last.nodeId] : []);
}

const statuses = ["ready", "held", "joining", "retrying", "suspended"];
/** The fields of a path that are taken over: `fields` and `more`. All others are dropped. */
const fields = ["id", "nodeId", "status", "turn", "visit", "attempts", "since", "stepPath", "forks", "via", "waves", "inputs"];
const more = ["waits", "children", "draining", "nextRetryAt", "resumed", "begun", "acted", "undoes", "undo"];

/** Checks and returns one open path. */
function readPath(value: Json, pointer: string, place: ReadContext): ActivePath {
  const path = object(value, pointer);
  const { id, status, forks, via, inputs, resumed, undoes } = path;
  if (typeof id !== "string" || !/^[^/>@#\s]{1,64}$/.test(id)) return invalid(`${pointer}/id`, "must be the id of a path");
  text(path.nodeId, `${pointer}/nodeId`, "must be the id of a node");
  if (!statuses.includes(status as string)) return invalid(`${pointer}/status`, `must be one of ${statuses.join(", ")}`);
  const turn = count(path.turn, `${pointer}/turn`, 1);
  const visit = count(path.visit, `${pointer}/visit`, 1, turn);
  count(path.attempts, `${pointer}/attempts`);
  count(path.since, `${pointer}/since`, oldestVersion, place.version);
  if (forks !== undefined) count(forks, `${pointer}/forks`);
  optionalText({ via: via ?? "" }, ["via"], pointer);
  time(path.nextRetryAt, `${pointer}/nextRetryAt`);
  const stepPath = texts(path.stepPath ?? [], `${pointer}/stepPath`, "must be a list of node ids");
  if (status === "joining" && stepPath.length === 0) return invalid(`${pointer}/stepPath`, "must say where the path came from");
  checkSuspension(path, pointer, scopedKey(place.scope, `${id}@${turn}`), mayRest(path, place));
  if (path.children !== undefined) checkChildren(path, pointer, `${id}#${visit}`, place);
  else if (flag(path.draining, `${pointer}/draining`)) return invalid(`${pointer}/draining`, 'is only allowed together with "children"');
  if (resumed !== undefined) checkResumed(resumed, `${pointer}/resumed`);
  if (inputs !== undefined) checkInputs(inputs, `${pointer}/inputs`);
  flag(path.begun, `${pointer}/begun`);
  checkActed(path.acted, `${pointer}/acted`);
  checkUndoneBy(path.undo, `${pointer}/undo`);
  if (undoes !== undefined) checkUndo(undoes, `${pointer}/undoes`, place);
  const waves = wavesOf(path.waves, `${pointer}/waves`, place);
  const { waves: _, ...rest } = picked(path, [...fields, ...more]);
  return Object.freeze({ ...rest, ...(waves && { waves }), stepPath }) as unknown as ActivePath;
}

/** Whether a path holds the code of its scope, which rests while it waits for the steps that it has asked for. */
function mayRest({ nodeId }: JsonObject, { workflow: { code, starts } }: ReadContext): boolean {
  return code && nodeId === starts[0];
}

/** Checks that a path is suspended exactly while it has waits or children. */
function checkSuspension({ status, waits, children, undoes }: JsonObject, pointer: string, name: string, mayRest: boolean): void {
  if (waits !== undefined) checkWaits(waits, `${pointer}/waits`, name);
  if (status === "suspended" && waits === undefined && children === undefined && !mayRest)
    invalid(`${pointer}/waits`, "must say what the path waits for");
  const isOfChildren = children !== undefined && (waits as readonly JsonObject[] | undefined)?.[0]?.kind === "children";
  if (waits !== undefined && (status !== "suspended" || (children !== undefined && !isOfChildren)))
    invalid(`${pointer}/waits`, "must fit the status and the children of the path");
  if (children !== undefined && (status !== "suspended" || undoes !== undefined))
    invalid(`${pointer}/children`, "must belong to a path that waits for them");
}

/** Keeps only the waves of forks that the definition still has. */
function wavesOf(value: Json | undefined, pointer: string, { workflow: { nodes } }: ReadContext): JsonObject | undefined {
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
    count(version, `${pointer}/${i}/version`, oldestVersion);
  }
}

/** Checks `children` of a path. @param name the key of its own children; a draining path may have children that another path began */
function checkChildren(path: JsonObject, at: string, name: string, { workflow: { workflows } }: ReadContext): void {
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
  if (over > total) invalid(`${pointer}/total`, "must be at least the number of ended items");
  bound(map.concurrency, `${pointer}/concurrency`, 1);
  if (!(typeof map.tolerated === "number" && map.tolerated >= 0)) invalid(`${pointer}/tolerated`, "must be a number of at least 0");
  if (map.remaining !== "finish" && map.remaining !== "cancel") invalid(`${pointer}/remaining`, "must be finish or cancel");
  if (map.completeWhen !== undefined) bound(map.completeWhen, `${pointer}/completeWhen`);
  flag(map.open, `${pointer}/open`);
  if (map.ahead !== undefined) bound(map.ahead, `${pointer}/ahead`);
}

const kinds = ["external", "signal", "timer", "child", "incident", "children", "delivery"];
const reasons: readonly Json[] = ["payload", "signal", "timer", "child", "delivery"] satisfies readonly Resumed["by"][];

/** Checks the waits of a path. @param name the `pathId@turn` with which their ids begin */
function checkWaits(value: Json, pointer: string, name: string): void {
  const waits = list(value, pointer);
  if (waits.length === 0) invalid(pointer, "must say what the path waits for");
  const ids = new Set<string>();
  for (const [i, wait] of waits.entries()) {
    const at = `${pointer}/${i}`;
    checkWait(object(wait, at, "must be an object with an id"), at);
    const id = text((wait as JsonObject).id, `${at}/id`);
    const isOurs = id === name || (id.startsWith(`${name}.`) && /^[1-9]\d{0,8}$/.test(id.slice(name.length + 1)));
    if (!isOurs || ids.has(id))
      invalid(`${at}/id`, `must be "${name}", or "${name}.1" and so on if there are several waits, and must be unique`);
    ids.add(id);
  }
}

/** Checks the wait for a decision about a failed step: its payload is the failure. */
function checkIncident({ payload }: JsonObject, pointer: string): void {
  const { error, attempt } = object(payload, `${pointer}/payload`, "must be an object with error and attempt");
  readError(error as Json, `${pointer}/payload/error`);
  count(attempt, `${pointer}/payload/attempt`, 1);
}

/** Checks the wait for the delivery of a signal: its payload names the signal and the execution that gets it. */
function checkDelivery({ payload }: JsonObject, pointer: string): void {
  const { workflowId, signal, key } = object(payload, `${pointer}/payload`, "must be an object with workflowId and signal");
  // a signal to all executions that wait for it has a key in place of a `workflowId`
  if (workflowId === undefined && key !== undefined) text(key, `${pointer}/payload/key`, "must be the key of a signal");
  else if (!isWorkflowId(workflowId)) invalid(`${pointer}/payload/workflowId`, "must name an execution");
  text(signal, `${pointer}/payload/signal`, "must name a signal");
}

function checkWait(wait: JsonObject, pointer: string): void {
  const { kind, schema, resumeAt, workflowId } = wait;
  if (!kinds.includes(kind as string)) invalid(`${pointer}/kind`, `must be one of ${kinds.join(", ")}`);
  if (kind === "signal") text(wait.signal, `${pointer}/signal`, "must name a signal");
  if (kind === "child" && !isWorkflowId(workflowId)) invalid(`${pointer}/workflowId`, "must name an execution");
  if (kind !== "child" && workflowId !== undefined) invalid(`${pointer}/workflowId`, 'is only allowed if the kind is "child"');
  if (kind === "incident") checkIncident(wait, pointer);
  if (kind === "delivery") checkDelivery(wait, pointer);
  if (kind === "timer" && resumeAt === undefined) invalid(`${pointer}/resumeAt`, "must be a time in milliseconds");
  if (schema !== undefined && typeof schema !== "boolean" && !isJsonObject(schema)) invalid(`${pointer}/schema`, "must be a JSON Schema");
  if (wait.refused !== undefined) checkRefusal(wait.refused, `${pointer}/refused`);
  time(wait.openedAt, `${pointer}/openedAt`);
  time(resumeAt, `${pointer}/resumeAt`);
  time(wait.timeoutAt, `${pointer}/timeoutAt`);
  optionalText(wait, ["signal", "key", "tally", "typeSchema", "firstId"], pointer);
  flag(wait.transient, `${pointer}/transient`);
  flag(wait.begins, `${pointer}/begins`);
  flag(wait.yields, `${pointer}/yields`);
  checkQuorum(wait, pointer);
}

function checkRefusal(value: Json, pointer: string): void {
  const refusal = object(value, pointer, "must be an object with at and issues");
  if (time(refusal.at, `${pointer}/at`) === undefined) invalid(`${pointer}/at`, "must be a time in milliseconds");
  optionalText(refusal, ["who"], pointer);
  for (const [i, issue] of list(refusal.issues, `${pointer}/issues`, "must be a list of issues").entries()) {
    const at = `${pointer}/issues/${i}`;
    const { pointer: place, message } = object(issue, at, "must be an object with pointer and message");
    if (typeof place !== "string") invalid(`${at}/pointer`, "must be text");
    text(message, `${at}/message`, "must say what is wrong");
  }
}

function checkQuorum({ responders, quorum, answers, tally }: JsonObject, pointer: string): void {
  if (responders !== undefined) texts(responders, `${pointer}/responders`, "must be a list of names");
  if (quorum !== undefined) {
    const wanted = bound(quorum, `${pointer}/quorum`, 1);
    if (responders !== undefined && wanted > (responders as readonly Json[]).length)
      invalid(`${pointer}/quorum`, "must not be higher than there are responders");
  }
  if (tally !== undefined && quorum === undefined) invalid(`${pointer}/tally`, 'is only allowed together with "quorum"');
  if (answers === undefined) return;
  if (quorum === undefined) invalid(`${pointer}/answers`, 'is only allowed together with "quorum"');
  checkAnswers(answers, `${pointer}/answers`);
}

function checkAnswers(value: Json, pointer: string): void {
  for (const [i, answer] of list(value, pointer, "must be a list of answers").entries()) {
    const { by, at } = object(answer, `${pointer}/${i}`, "must be an object with by and at");
    text(by, `${pointer}/${i}/by`, "must say who answered");
    if (time(at, `${pointer}/${i}/at`) === undefined) invalid(`${pointer}/${i}/at`, "must be a time in milliseconds");
  }
}

/** Checks the field `resumed` of a path. */
function checkResumed(value: Json, pointer: string): void {
  const resumed = object(value, pointer);
  if (!reasons.includes(resumed.by!)) invalid(`${pointer}/by`, `must be one of ${reasons.join(", ")}`);
  optionalText(resumed, ["signal", "key", "who"], pointer);
  flag(resumed.yields, `${pointer}/yields`);
  const { schema } = resumed;
  if (schema !== undefined && typeof schema !== "boolean") object(schema, `${pointer}/schema`);
  if (resumed.answers !== undefined) checkAnswers(resumed.answers, `${pointer}/answers`);
  if (resumed.reopens !== undefined) checkReopening(resumed.reopens, `${pointer}/reopens`);
}

/** Checks the waits that may open again. Their ids need not match the turn, because they get new ids when they open. */
function checkReopening(value: Json, pointer: string): void {
  const reopens = object(value, pointer, "must be an object with waitId and waits");
  text(reopens.waitId, `${pointer}/waitId`, "must be the id of a wait");
  if (reopens.version !== undefined) count(reopens.version, `${pointer}/version`);
  const waits = list(reopens.waits, `${pointer}/waits`);
  if (waits.length === 0) invalid(`${pointer}/waits`, "must say what the path has waited for");
  for (const [i, given] of waits.entries()) {
    const at = `${pointer}/waits/${i}`;
    const wait = object(given, at, "must be an object with an id");
    if (["incident", "child", "delivery"].includes(wait.kind as string)) invalid(`${at}/kind`, "cannot be waited for once more");
    checkWait(wait, at);
    text(wait.id, `${at}/id`);
  }
}
