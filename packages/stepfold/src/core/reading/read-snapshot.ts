import type { CompiledWorkflow } from "../definition/compiled.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import type { Origin } from "../snapshot/parts/lineage.ts";
import type { GivenTime, Snapshot } from "../snapshot/snapshot.ts";
import { isId, isWorkflowId } from "../values/ids/id.ts";
import { isJsonObject, type Json, type JsonObject } from "../values/json.ts";
import { defaultLimits, type Limits } from "../values/limits.ts";
import { pointerOf } from "../values/pointer.ts";
import { lastMs } from "../values/timestamp.ts";
import { plainJson } from "../values/to-json.ts";
import { checkFamilies, readChildren } from "./read-children.ts";
import { readParked } from "./read-parked.ts";
import { readPermit, readRate } from "./read-permit.ts";
import { readScope } from "./read-scope.ts";
import { readClosing, readCompensations } from "./read-undo.ts";
import { count, highestCount, invalid, isIn, list, object, optionalText, rootContext, text, time } from "./read-value.ts";

/**
 * Checks a snapshot from outside and returns it in the current format. Older formats are converted: a classic snapshot, which has no
 * `activePaths`, gets one path at its `currentNodeId`, unless it has ended.
 *
 * An accepted snapshot can go on: it satisfies everything that the engine relies on.
 *
 * @throws StepfoldError `SNAPSHOT_INVALID` with the JSON pointer, `SNAPSHOT_TOO_NEW`, `VALUE_NOT_JSON`, `LIMIT_EXCEEDED` if it is nested
 * too deeply, `DEFINITION_CHANGED` if the workflow lacks a node at which the execution stands, or a part of it such as its join
 */
export function readSnapshot(value: unknown, workflow: CompiledWorkflow, limits: Limits = defaultLimits): Snapshot {
  // a snapshot holds many values, so of the limits of one value only `depth` counts, with 16 levels more for the snapshot around a value
  const boundless = {
    ...limits,
    depth: limits.depth + 16,
    keys: Number.POSITIVE_INFINITY,
    valueBytes: Number.POSITIVE_INFINITY,
    stringLength: Number.POSITIVE_INFINITY,
  };
  const { value: plain, sizeBytes } = plainJson(value, "The snapshot", boundless);
  if (!isJsonObject(plain)) return invalid("", "must be an object");
  const { schema = 1, workflowId, metadata = {} } = plain;
  if (typeof schema !== "number" || !Number.isSafeInteger(schema) || schema < 1)
    return invalid("/schema", "must be a whole number of at least 1");
  if (schema > 1) throw new StepfoldError("SNAPSHOT_TOO_NEW", { schema, supported: 1 });
  if (!isWorkflowId(workflowId)) return invalid("/workflowId", "must be text of 1 to 255 printable characters");
  const version = count(plain.version, "/version");
  const place = rootContext(plain, workflow, workflowId, version);
  const { definition } = plain;
  const more = optional(plain, version);
  const scope = readScope(plain, place, more.outbox !== undefined);
  const children = readChildren(plain, place);
  const mapItems = checkFamilies(scope, children, plain.mapItems, place);
  return Object.freeze({
    ...more,
    ...scope,
    ...(children.size > 0 && { childStates: Object.freeze(Object.fromEntries(children)) }),
    ...(mapItems && { mapItems }),
    schema: 1,
    workflowId,
    definition: definition === undefined ? { id: workflow.definition.id, hash: workflow.hash } : readDefinition(definition, "/definition"),
    version,
    metadata: object(metadata, "/metadata"),
    steps: count(plain.steps ?? Object.values(scope.context).reduce((sum, results) => sum + results.length, 0), "/steps"),
    sizeBytes: count(plain.sizeBytes ?? sizeBytes, "/sizeBytes"),
  });
}

/** Checks and returns the fields that may be missing. */
function optional(plain: JsonObject, version: number): Partial<Snapshot> {
  const { inbox, outbox, parent, scheduledBy, from, run, restarts, compensations, parked, permit, rate, descendants, tenant, unnamed } =
    plain;
  const { historyBytes, answered, keyRows, schemas, closing, taskQueue } = plain;
  if (plain.continuedAs !== undefined)
    return invalid(
      "/continuedAs",
      "belongs to an earlier version of Stepfold: the execution went on under the id in it. Use the snapshot of that execution",
    );
  if ((parked !== undefined) !== (plain.status === "parked"))
    return invalid("/parked", 'must be present if the status is "parked", and only then');
  const retryState = retryStateOf(plain);
  const times: Record<string, number> = {};
  for (const key of ["lastStartedAt", "totalExecutionTime", "createdAt"]) {
    const at = time(plain[key], `/${key}`);
    if (at !== undefined) times[key] = at;
  }
  optionalText(plain, ["incarnation"], "");
  if (tenant !== undefined && !isWorkflowId(tenant)) return invalid("/tenant", "must be text of 1 to 255 printable characters");
  if (taskQueue !== undefined && !isId(taskQueue)) return invalid("/taskQueue", "must be a name of 1 to 128 letters, digits, _ and -");
  return {
    ...times,
    ...(plain.incarnation !== undefined && { incarnation: plain.incarnation as string }),
    ...(tenant !== undefined && { tenant }),
    ...(unnamed === true && { unnamed }),
    ...givenTimeOf(plain),
    ...(inbox !== undefined && { inbox: readInbox(inbox) }),
    ...(outbox !== undefined && { outbox: readOutbox(outbox) }),
    ...(parent !== undefined && { parent: readParent(parent) }),
    ...(scheduledBy !== undefined && { scheduledBy: readScheduledBy(scheduledBy, "/scheduledBy") }),
    ...(closing !== undefined && { closing: readClosing(closing, plain) }),
    ...(from !== undefined && { from: readOrigin(from) }),
    ...(run !== undefined && { run: readRun(run, version) }),
    ...(restarts !== undefined && { restarts: count(restarts, "/restarts") }),
    ...(parked !== undefined && { parked: readParked(parked) }),
    ...(permit !== undefined && { permit: readPermit(permit) }),
    ...(rate !== undefined && { rate: readRate(rate) }),
    ...(taskQueue !== undefined && { taskQueue }),
    ...(historyBytes !== undefined && { historyBytes: count(historyBytes, "/historyBytes") }),
    ...(answered !== undefined && { answered: readAnswered(answered, version) }),
    ...(keyRows !== undefined && { keyRows: readKeyRows(keyRows, version) }),
    ...(schemas !== undefined && { schemas: readSchemas(schemas) }),
    ...(descendants !== undefined && { descendants: count(descendants, "/descendants") }),
    ...(compensations !== undefined && { compensations: readCompensations(compensations, version) }),
    ...(retryState && { retryState }),
  } as Partial<Snapshot>;
}

/** Reads the state of the first retry. In a classic snapshot (without `activePaths`) it is ignored if it is not valid. */
function retryStateOf({ retryState, activePaths }: JsonObject): Snapshot["retryState"] {
  if (retryState === undefined || (activePaths === undefined && !isSound(retryState))) return undefined;
  const state = object(retryState, "/retryState");
  text(state.nodeId, "/retryState/nodeId", "must be the id of a node");
  count(state.attempts, "/retryState/attempts");
  time(state.nextRetryAt, "/retryState/nextRetryAt");
  return state as unknown as Snapshot["retryState"];
}

function isSound(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const { nodeId, attempts, nextRetryAt = 0 } = value;
  return (
    typeof nodeId === "string" && nodeId !== "" && isIn(attempts, highestCount) && Number.isInteger(attempts) && isIn(nextRetryAt, lastMs)
  );
}

const keyedCommands: readonly unknown[] = ["resume", "signal", "setMetadata", "restart"];

/** Reads the idempotency keys of answers, signals and changes of metadata. */
function readAnswered(value: Json, latest: number): Snapshot["answered"] {
  for (const [i, given] of list(value, "/answered", "must be a list of keys").entries()) {
    const { command, key, version, at } = object(given, `/answered/${i}`, "must be an object with command, key and version");
    if (!keyedCommands.includes(command)) return invalid(`/answered/${i}/command`, `must be ${keyedCommands.join(" or ")}`);
    text(key, `/answered/${i}/key`, "must be a key");
    count(version, `/answered/${i}/version`, 0, latest);
    time(at, `/answered/${i}/at`);
  }
  return value as unknown as Snapshot["answered"];
}

/** Reads where the store has older idempotency keys. */
function readKeyRows(value: Json, latest: number): Snapshot["keyRows"] {
  const { days, before, refused } = object(value, "/keyRows", "must be an object with days and before");
  for (const [i, day] of list(days, "/keyRows/days", "must be a list of days").entries()) count(day, `/keyRows/days/${i}`);
  count(before, "/keyRows/before", 0, latest);
  if (refused !== undefined)
    for (const [i, version] of list(refused, "/keyRows/refused", "must be a list of versions").entries())
      count(version, `/keyRows/refused/${i}`, 0, latest);
  return value as unknown as Snapshot["keyRows"];
}

/** Reads the JSON Schemas of payloads. */
function readSchemas(value: Json): Snapshot["schemas"] {
  const schemas = object(value, "/schemas", "must be an object of JSON Schemas, by id");
  for (const [id, schema] of Object.entries(schemas))
    if (typeof schema !== "boolean" && !isJsonObject(schema)) return invalid(`/schemas${pointerOf([id])}`, "must be a JSON Schema");
  return schemas as Snapshot["schemas"];
}

/** Reads the signals in the inbox. */
function readInbox(value: Json): Snapshot["inbox"] {
  for (const [i, kept] of list(value, "/inbox", "must be a list of signals").entries()) {
    const signal = object(kept, `/inbox/${i}`, "must be an object with name and expiresAt");
    text(signal.name, `/inbox/${i}/name`, "must be the name of a signal");
    optionalText(signal, ["key"], `/inbox/${i}`);
    if (time(signal.expiresAt, `/inbox/${i}/expiresAt`) === undefined)
      return invalid(`/inbox/${i}/expiresAt`, "must be a time in milliseconds");
  }
  return value as unknown as Snapshot["inbox"];
}

/** Reads the messages in the outbox. */
function readOutbox(value: Json): Snapshot["outbox"] {
  const messages = list(value, "/outbox", "must be a list of messages");
  if (messages.length === 0) return invalid("/outbox", "must hold a message, or be absent");
  const ids = new Set<Json>();
  for (const [i, sent] of messages.entries()) {
    const pointer = `/outbox/${i}`;
    const message = object(sent, pointer);
    const { id, to, type } = message;
    if (typeof id !== "string" || !/^\d{1,16}\.\d{1,9}$/.test(id) || ids.has(id))
      return invalid(`${pointer}/id`, 'must be a unique id made of a version and a number, such as "7.0"');
    ids.add(id);
    if (type !== "broadcast" && !isWorkflowId(to)) return invalid(`${pointer}/to`, "must name an execution");
    if (type === "start") checkStart(message, pointer);
    else if (type === "cancel" || type === "adopt") text(message.waitId, `${pointer}/waitId`, "must be the id of a wait");
    else if (type === "signal" || type === "broadcast") checkSignal(message, pointer);
    else if (type === "startRoot" || type === "cancelRoot") checkRoot(message, pointer);
    else if (type !== "ended" && type !== "reopened")
      return invalid(`${pointer}/type`, "must be start, cancel, adopt, signal, broadcast, ended, startRoot or cancelRoot");
  }
  return value as unknown as Snapshot["outbox"];
}

function checkStart({ definition, waitId, descendants }: JsonObject, pointer: string): void {
  readDefinition(definition, `${pointer}/definition`);
  if (descendants !== undefined) count(descendants, `${pointer}/descendants`);
  if (waitId !== undefined) text(waitId, `${pointer}/waitId`, "must be the id of a wait");
}

function checkSignal(message: JsonObject, pointer: string): void {
  text(message.waitId, `${pointer}/waitId`, "must be the id of a wait");
  text(message.name, `${pointer}/name`, "must be the name of a signal");
  optionalText(message, ["key", "workflow"], pointer);
  if (message.type === "broadcast") text(message.key, `${pointer}/key`, "must be the key of a signal");
  time(message.ttlMs, `${pointer}/ttlMs`);
}

function checkRoot({ type, workflow, schedule, scheduledBy, metadata }: JsonObject, pointer: string): void {
  if (type === "cancelRoot") return void text(schedule, `${pointer}/schedule`, "must be the name of a schedule");
  text(workflow, `${pointer}/workflow`, "must be the id of a workflow");
  readScheduledBy(scheduledBy, `${pointer}/scheduledBy`);
  if (metadata !== undefined) object(metadata, `${pointer}/metadata`);
}

/** Reads the schedule that started the execution. */
function readScheduledBy(value: Json | undefined, pointer: string): Snapshot["scheduledBy"] {
  const { schedule, workflowId, at, reports } = object(value, pointer, "must be an object with schedule, workflowId and at");
  text(schedule, `${pointer}/schedule`, "must be the name of a schedule");
  if (!isWorkflowId(workflowId)) return invalid(`${pointer}/workflowId`, "must name an execution");
  if (time(at, `${pointer}/at`) === undefined) return invalid(`${pointer}/at`, "must be a time in milliseconds");
  if (reports !== undefined && reports !== true) return invalid(`${pointer}/reports`, "must be true, or absent");
  return value as unknown as Snapshot["scheduledBy"];
}

/** Reads the link to the parent execution. */
function readParent(value: Json): Snapshot["parent"] {
  const parent = object(value, "/parent");
  if (!isWorkflowId(parent.workflowId)) return invalid("/parent/workflowId", "must name an execution");
  optionalText(parent, ["incarnation", "waitId"], "/parent");
  count(parent.depth, "/parent/depth");
  if (parent.descendants !== undefined) count(parent.descendants, "/parent/descendants");
  return parent as unknown as Snapshot["parent"];
}

/** Reads the execution from which this one goes on. */
function readOrigin(value: Json): Snapshot["from"] {
  const origin = object(value, "/from");
  const { workflowId, reason } = origin;
  if (!isWorkflowId(workflowId)) return invalid("/from/workflowId", "must name an execution");
  optionalText(origin, ["incarnation"], "/from");
  count(origin.version, "/from/version");
  if (origin.replay !== undefined) {
    const { seed, at } = object(origin.replay, "/from/replay");
    text(seed, "/from/replay/seed", "must be text");
    if (time(at, "/from/replay/at") === undefined) return invalid("/from/replay/at", "must be a time in milliseconds");
  }
  // an execution that an earlier version of Stepfold restarted, or continued, under a new id
  if (reason === "restart" || reason === "continueAs") return { ...(origin as unknown as Origin), reason: "fork" };
  if (!["fork", "adopt"].includes(reason as string)) return invalid("/from/reason", "must be fork or adopt");
  return origin as unknown as Snapshot["from"];
}

/** Reads the run of an execution. */
function readRun(value: Json, version: number): Snapshot["run"] {
  const { number, since, at, quick } = object(value, "/run");
  count(number, "/run/number", 2);
  count(since, "/run/since", 0, version);
  if (time(at, "/run/at") === undefined) return invalid("/run/at", "must be a time in milliseconds");
  if (quick !== undefined) count(quick, "/run/quick");
  return value as unknown as Snapshot["run"];
}

/** Snapshots of earlier versions say only that their deadline was given. */
function givenTimeOf({ givenTime, deadlineGiven, deadlineAt, createdAt }: JsonObject): Pick<Snapshot, "givenTime"> {
  if (givenTime !== undefined) {
    const { deadlineAt: at, timeoutMs } = object(givenTime, "/givenTime");
    if (time(at, "/givenTime/deadlineAt") === undefined) return invalid("/givenTime/deadlineAt", "must be a time in milliseconds");
    count(timeoutMs, "/givenTime/timeoutMs");
    return { givenTime: givenTime as unknown as GivenTime };
  }
  if (deadlineGiven !== true || typeof deadlineAt !== "number" || typeof createdAt !== "number") return {};
  return { givenTime: { deadlineAt, timeoutMs: Math.max(0, deadlineAt - createdAt) } };
}

/** Reads the id and hash of a definition. */
function readDefinition(value: Json | undefined, pointer: string): Snapshot["definition"] {
  const { id, hash } = object(value, pointer, "must be an object with id and hash");
  if (typeof id !== "string" || typeof hash !== "string") return invalid(pointer, "must be an object with id and hash");
  return Object.freeze({ id, hash });
}
