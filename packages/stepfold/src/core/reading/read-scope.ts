import { type Acted, isSameActed } from "../snapshot/parts/acted.ts";
import type { UndoneBy } from "../snapshot/parts/undone-by.ts";
import type { Variables } from "../snapshot/parts/variables.ts";
import {
  type ActivePath,
  type ChildState,
  type Context,
  type Ending,
  isTerminal,
  type NodeResult,
  type ScopeHead,
  type Status,
} from "../snapshot/snapshot.ts";
import { isId } from "../values/ids/id.ts";
import type { Json, JsonObject } from "../values/json.ts";
import { readPaths } from "./read-path.ts";
import { checkActed, checkUndoneBy, readBegun, readEnding } from "./read-undo.ts";
import { count, into, invalid, list, object, oldestVersion, picked, type ReadContext, readError, text, texts, time } from "./read-value.ts";

const statuses = ["active", "paused", "error", "completed", "failed", "cancelled"];
/** The statuses of the execution itself, which alone can be parked. */
const statusesOfAll = [...statuses, "parked"];

/** The fields that every scope has, after they were checked. */
export type ReadScope = Omit<ScopeHead, "version"> & Pick<ChildState, "context" | "variables">;

/**
 * Checks and returns the fields that every scope has.
 *
 * @param onlyTells true if the scope has messages to deliver, so that it may be open without a path
 */
export function readScope(plain: JsonObject, place: ReadContext, onlyTells = false): ReadScope {
  const { pointer } = place;
  const { status, currentNodeId = null } = plain;
  const known = pointer === "" ? statusesOfAll : statuses;
  if (!known.includes(status as string)) return invalid(`${pointer}/status`, `must be one of ${known.join(", ")}`);
  if (currentNodeId !== null && typeof currentNodeId !== "string")
    return invalid(`${pointer}/currentNodeId`, "must be the id of a node, or null");
  const context = readContext(plain.context, place);
  const activePaths = readPaths(plain, place, context);
  const fields = fieldsOf(plain, place);
  const isOpen = activePaths.length > 0 || (onlyTells && fields.ending !== undefined);
  if (isTerminal(status as Status) === isOpen)
    return invalid(`${pointer}/activePaths`, `cannot be${isOpen ? "" : " empty"} with status "${status}"`);
  checkEnding(fields.ending, activePaths, pointer, onlyTells);
  const variables = readVariables(plain.variables, place);
  return { ...fields, status: status as Status, currentNodeId, activePaths, context, ...(variables && { variables }) };
}

/**
 * Checks that a scope with `ending` has exactly one path, which undoes steps: first those that had only begun, then completed ones; or, in
 * `again`, those whose compensations failed. A scope that only has to deliver messages has no path.
 */
function checkEnding(ending: Ending | undefined, paths: readonly ActivePath[], pointer: string, onlyTells: boolean): void {
  const undoing = paths.findIndex(({ undoes }) => undoes);
  if (!ending) {
    if (undoing >= 0) invalid(`${pointer}/ending`, "must be present while a step is being undone");
    return;
  }
  if (onlyTells && paths.length === 0 && ending.begun.length === 0) return;
  if (undoing < 0 || paths.length > 1) invalid(`${pointer}/ending`, "must be absent unless a step is being undone");
  const { status, begun, again } = ending;
  if (status === "completed" && !again) invalid(`${pointer}/ending/status`, "cannot be completed while a step is being undone");
  const { nodeId, undoes } = paths[0]!;
  const [first] = again ?? begun;
  const isFirst =
    first?.nodeId === nodeId && first.pathId === undoes!.pathId && first.scope === undoes!.scope && isSameActed(first.acted, undoes!.acted);
  if (again && !(isFirst && first.version === undoes!.version))
    invalid(`${pointer}/ending/again`, "must begin with the step that is being undone");
  if (!again && !(undoes!.version === undefined ? isFirst : begun.length === 0))
    invalid(`${pointer}/ending/begun`, "must begin with the step that is being undone, and must be empty once all of its steps are undone");
}

function fieldsOf(plain: JsonObject, place: ReadContext): Partial<ScopeHead> {
  const { pointer } = place;
  const { error, rounds, ending, begun } = plain;
  const deadlineAt = time(plain.deadlineAt, `${pointer}/deadlineAt`);
  return {
    ...picked(plain, ["input", "output"]),
    ...(plain.inEvents !== undefined && { inEvents: readInEvents(plain.inEvents, `${pointer}/inEvents`) }),
    ...(deadlineAt !== undefined && { deadlineAt }),
    ...(error !== undefined && { error: readError(error, `${pointer}/error`) }),
    ...(rounds !== undefined && { rounds: readRounds(rounds, `${pointer}/rounds`, place) }),
    ...(begun !== undefined && { begun: readBegun(begun, `${pointer}/begun`, place) }),
    ...(ending !== undefined && { ending: readEnding(ending, `${pointer}/ending`, place) }),
  };
}

/** Reads the places of large values in the events. */
function readInEvents(value: Json, pointer: string): ScopeHead["inEvents"] & object {
  const places = object(value, pointer, "must be an object of places in events");
  texts(Object.values(places), pointer, "must be an object of places in events");
  return places as ScopeHead["inEvents"] & object;
}

function readRounds(value: Json, pointer: string, { workflow }: ReadContext): ScopeHead["rounds"] & object {
  const rounds = object(value, pointer, "must be an object of rounds, by node and wave");
  for (const [key, round] of Object.entries(rounds)) {
    const at = into(pointer, key);
    const bar = key.indexOf("|");
    if (bar < 0 || !workflow.nodes.get(key.slice(0, bar))?.join) return invalid(at, "does not belong to a join");
    texts(object(round, at, "must be an object with got").got, `${at}/got`, "must be a list of edges");
  }
  return rounds as unknown as ScopeHead["rounds"] & object;
}

function readContext(value: Json | undefined, { pointer: at, version }: ReadContext): Context {
  if (value === undefined) return Object.freeze({});
  const context: Record<string, readonly NodeResult[]> = {};
  for (const [nodeId, results] of Object.entries(object(value, `${at}/context`, "must be an object of result lists, by node id"))) {
    const pointer = into(`${at}/context`, nodeId);
    if (!isId(nodeId)) return invalid(pointer, "is not a node id");
    context[nodeId] = Object.freeze(
      list(results, pointer, "must be a list of results").map((result, i) => readResult(result, `${pointer}/${i}`, version)),
    );
  }
  return Object.freeze(context);
}

function readVariables(value: Json | undefined, { pointer: at, version }: ReadContext): Variables | undefined {
  if (value === undefined) return undefined;
  const variables = object(value, `${at}/variables`, "must be an object of lists of values, by name");
  for (const [name, values] of Object.entries(variables)) {
    const pointer = into(`${at}/variables`, name);
    if (!isId(name)) return invalid(pointer, "is not the name of a variable");
    let oldest = oldestVersion;
    for (const [i, given] of list(values, pointer, "must be a list of values").entries()) {
      const held = object(given, `${pointer}/${i}`, "must be an object with value and version");
      if (held.value === undefined) return invalid(`${pointer}/${i}/value`, "is missing");
      oldest = count(held.version, `${pointer}/${i}/version`, oldest, version) + 1;
    }
    if (oldest === oldestVersion) return invalid(pointer, "must have a value");
  }
  return Object.keys(variables).length > 0 ? (variables as unknown as Variables) : undefined;
}

function readResult(value: Json, pointer: string, latest: number): NodeResult {
  const given = object(value, pointer, "must be an object with output and timestamp");
  const { output = null, error, pathId = "0", acted, undo } = given;
  if (error !== undefined && typeof error !== "string") return invalid(`${pointer}/error`, "must be text");
  text(pathId, `${pointer}/pathId`, "must be the id of a path");
  checkActed(acted, `${pointer}/acted`);
  checkUndoneBy(undo, `${pointer}/undo`);
  // classic results have no path, version or attempt: they count as older than everything that follows
  const result = {
    output,
    timestamp: time(given.timestamp, `${pointer}/timestamp`) ?? 0,
    attempt: count(given.attempt ?? 1, `${pointer}/attempt`),
    pathId: pathId as string,
    version: count(given.version ?? 0, `${pointer}/version`, oldestVersion, latest),
  };
  const kept =
    acted === undefined
      ? result
      : { ...result, acted: acted as unknown as Acted, ...(undo !== undefined && { undo: undo as unknown as UndoneBy }) };
  return Object.freeze(error === undefined ? kept : { ...kept, error });
}
