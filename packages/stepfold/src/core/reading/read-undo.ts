import { belongsTo } from "../snapshot/address.ts";
import type { UndoneBy } from "../snapshot/parts/undone-by.ts";
import { type BegunStep, type Ending, isTerminal, type Snapshot, type Status, type Undo } from "../snapshot/snapshot.ts";
import type { Json, JsonObject } from "../values/json.ts";
import { count, invalid, list, object, oldestVersion, optionalText, type ReadContext, readError, text, time } from "./read-value.ts";

/** Checks the key under which a step has acted. */
export function checkActed(value: Json | undefined, pointer: string): void {
  if (value === undefined) return;
  const acted = object(value, pointer, "must be an object with the visit");
  count(acted.visit, `${pointer}/visit`, 1);
  optionalText(acted, ["by"], pointer);
}

/** Checks what undoes a step that code has asked for. */
export function checkUndoneBy(value: Json | undefined, pointer: string): void {
  if (value !== undefined) text(object(value, pointer, "must be an object with a type").type, `${pointer}/type`, "must name a node type");
}

/** Checks what a compensation undoes: a step of its own scope, or of a child inside it. */
export function checkUndo(value: Json, pointer: string, { scope: own, workflows }: ReadContext): JsonObject {
  const undo = object(value, pointer);
  const { scope, pathId, version } = undo;
  text(pathId, `${pointer}/pathId`, "must be the id of a path");
  if (version !== undefined) count(version, `${pointer}/version`, oldestVersion);
  checkActed(undo.acted, `${pointer}/acted`);
  checkUndoneBy(undo.undo, `${pointer}/undo`);
  if (scope === undefined && own === "") return undo;
  // in a child, `scope` must be there even if the step belongs to the child itself
  if (typeof scope !== "string" || scope === "" || !workflows.has(scope) || (own !== "" && !belongsTo(scope, own)))
    invalid(`${pointer}/scope`, own === "" ? "must be the key of a child, or absent" : `must be "${own}", or the key of a child inside it`);
  return undo;
}

/** Checks that the node of a step that must be undone has a `compensate`. @throws StepfoldError `DEFINITION_CHANGED` */
export function requireCompensation(undo: Pick<Undo, "scope" | "undo">, nodeId: string, { scope, workflows, lacks }: ReadContext): void {
  const workflow = workflows.get(undo.scope ?? scope)!;
  if (!(workflow.code ? undo.undo : workflow.nodes.get(nodeId)?.compensation)) lacks(nodeId);
}

/** Checks the steps of a scope that did not complete and may have had an effect. */
export function readBegun(value: Json, pointer: string, place: ReadContext): readonly BegunStep[] {
  for (const [i, step] of list(value, pointer, "must be a list of steps").entries()) {
    const { pathId, nodeId, acted, undo } = object(step, `${pointer}/${i}`);
    checkActed(acted, `${pointer}/${i}/acted`);
    checkUndoneBy(undo, `${pointer}/${i}/undo`);
    text(pathId, `${pointer}/${i}/pathId`, "must be the id of a path");
    const node = text(nodeId, `${pointer}/${i}/nodeId`, "must be the id of a node");
    requireCompensation({ ...(undo !== undefined && { undo: undo as unknown as UndoneBy }) }, node, place);
  }
  return value as unknown as readonly BegunStep[];
}

/** Checks the field `ending` of a scope. */
export function readEnding(value: Json, pointer: string, place: ReadContext): Ending {
  const ending = object(value, pointer, "must be an object with status and begun");
  checkDecided(ending, pointer);
  // the steps in `begun` have not completed, so they have no version; with a version such a step would be undone again and again
  for (const { step, at } of readSteps(ending.begun, `${pointer}/begun`, place))
    if (step.version !== undefined) return invalid(`${at}/version`, "must be absent for a step that has not completed");
  if (ending.again !== undefined) readSteps(ending.again, `${pointer}/again`, place);
  return ending as unknown as Ending;
}

/** Checks the field `closing` of an execution that runs its `finally` nodes. */
export function readClosing(value: Json, { status, ending }: JsonObject): NonNullable<Snapshot["closing"]> {
  const closing = object(value, "/closing", "must be an object with status and nodeId");
  checkDecided(closing, "/closing");
  if (isTerminal(status as Status) || ending !== undefined)
    return invalid("/closing", "must be absent once the execution has ended, and while steps are undone");
  return closing as unknown as NonNullable<Snapshot["closing"]>;
}

/** Checks the fields that `ending` and `closing` have in common. */
function checkDecided({ status, nodeId, error }: JsonObject, pointer: string): void {
  if (status !== "failed" && status !== "cancelled" && status !== "completed")
    invalid(`${pointer}/status`, "must be failed, cancelled or completed");
  if (nodeId !== null) text(nodeId, `${pointer}/nodeId`, "must be the id of a node, or null");
  if (error !== undefined) readError(error, `${pointer}/error`);
}

function readSteps(value: Json | undefined, pointer: string, place: ReadContext): { readonly step: JsonObject; readonly at: string }[] {
  return list(value, pointer, "must be a list of steps").map((one, i) => {
    const at = `${pointer}/${i}`;
    const step = checkUndo(one, at, place);
    requireCompensation(step as unknown as Undo, text(step.nodeId, `${at}/nodeId`, "must be the id of a node"), place);
    return { step, at };
  });
}

/** Checks the results of compensations. */
export function readCompensations(value: Json, latest: number): Snapshot["compensations"] {
  for (const [i, done] of list(value, "/compensations", "must be a list of results").entries()) {
    const at = `/compensations/${i}`;
    const result = object(done, at);
    const { scope, pathId, version, acted, undo } = object(result.undoes, `${at}/undoes`, "must say what was undone");
    checkActed(acted, `${at}/undoes/acted`);
    checkUndoneBy(undo, `${at}/undoes/undo`);
    text(result.nodeId, `${at}/nodeId`, "must be the id of a node");
    text(pathId, `${at}/undoes/pathId`, "must be the id of a path");
    if (version !== undefined) count(version, `${at}/undoes/version`, oldestVersion);
    if (scope !== undefined) text(scope, `${at}/undoes/scope`, "must be the key of a child");
    if (time(result.timestamp, `${at}/timestamp`) === undefined) invalid(`${at}/timestamp`, "must be a time in milliseconds");
    count(result.attempt, `${at}/attempt`);
    count(result.version, `${at}/version`, oldestVersion, latest);
    optionalText(result, ["error"], at);
  }
  return value as unknown as Snapshot["compensations"];
}
