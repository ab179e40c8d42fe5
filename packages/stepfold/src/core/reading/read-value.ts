import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { ErrorInfo } from "../errors/error-info.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { parentKey } from "../snapshot/address.ts";
import { isJsonObject, type Json, type JsonObject } from "../values/json.ts";
import { pointerOf } from "../values/pointer.ts";
import { lastMs } from "../values/timestamp.ts";

/** The highest count that is accepted. It leaves room to count on: from 2^53 on, adding 1 changes nothing. */
export const highestCount: number = 2 ** 52;
/** Results that were taken over from another execution have versions that are not above 0. */
export const oldestVersion: number = -highestCount;

/** A moment or a duration that may be missing, in milliseconds. @throws StepfoldError `SNAPSHOT_INVALID` */
export function time(value: Json | undefined, pointer: string): number | undefined {
  if (value === undefined || isIn(value, lastMs)) return value;
  return invalid(pointer, "must be a number of milliseconds, from 0 to 8.64e15");
}

/** Something counted. @throws StepfoldError `SNAPSHOT_INVALID` */
export function count(value: Json | undefined, pointer: string, from = 0, to: number = highestCount): number {
  if (isWhole(value) && value >= from && value <= to) return value;
  const highest = to === highestCount ? "2^52" : to;
  return invalid(pointer, `must be a whole number ${from === oldestVersion ? "up to" : `from ${from} to`} ${highest}`);
}

/** A bound, which may be as high as one likes. @throws StepfoldError `SNAPSHOT_INVALID` */
export function bound(value: Json | undefined, pointer: string, from = 0): number {
  if (isWhole(value) && value >= from) return value;
  return invalid(pointer, `must be a whole number from ${from} on`);
}

/** @throws StepfoldError `SNAPSHOT_INVALID` */
export function invalid(pointer: string, reason: string): never {
  throw new StepfoldError("SNAPSHOT_INVALID", { pointer, reason });
}

/** True for a number from 0 to another one. */
export function isIn(value: Json | undefined, highest: number): value is number {
  return typeof value === "number" && value >= 0 && value <= highest;
}

function isWhole(value: Json | undefined): value is number {
  return Number.isSafeInteger(value);
}

/** A member that is an object. @throws StepfoldError `SNAPSHOT_INVALID` */
export function object(value: Json | undefined, pointer: string, reason = "must be an object"): JsonObject {
  return isJsonObject(value) ? value : invalid(pointer, reason);
}

/** A member that is a list. @throws StepfoldError `SNAPSHOT_INVALID` */
export function list(value: Json | undefined, pointer: string, reason = "must be a list"): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : invalid(pointer, reason);
}

/** Text that is not empty. @throws StepfoldError `SNAPSHOT_INVALID` */
export function text(value: Json | undefined, pointer: string, reason = "must be text"): string {
  return typeof value === "string" && value !== "" ? value : invalid(pointer, reason);
}

/** Members that are text where they are there. @throws StepfoldError `SNAPSHOT_INVALID` */
export function optionalText(value: JsonObject, keys: readonly string[], pointer: string): void {
  for (const key of keys) if (value[key] !== undefined && typeof value[key] !== "string") invalid(`${pointer}/${key}`, "must be text");
}

/** A member that is true where it is there. @throws StepfoldError `SNAPSHOT_INVALID` */
export function flag(value: Json | undefined, pointer: string): boolean {
  return value === undefined || value === true ? value === true : invalid(pointer, "must be true, or absent");
}

/** A list of names. @throws StepfoldError `SNAPSHOT_INVALID` */
export function texts(value: Json | undefined, pointer: string, reason: string): readonly string[] {
  const names = list(value, pointer, reason);
  return names.every((name) => typeof name === "string") ? (names as readonly string[]) : invalid(pointer, reason);
}

/** The pointer to a member whose key is not ours. */
export function into(pointer: string, key: string): string {
  return pointer + pointerOf([key]);
}

/** Those of these members that are there, in this order. */
export function picked(value: JsonObject, keys: readonly string[]): JsonObject {
  const found: Record<string, Json> = {};
  for (const key of keys) if (value[key] !== undefined) found[key] = value[key];
  return found;
}

/** A failure, checked. */
export function readError(value: Json, pointer: string): ErrorInfo {
  const error = object(value, pointer, "must be an object with a message");
  if (typeof error.message !== "string") return invalid(pointer, "must be an object with a message");
  optionalText(error, ["name", "code", "nodeId", "stack"], pointer);
  if (error.cause !== undefined) count((readError(error.cause, `${pointer}/cause`) as unknown as JsonObject).item, `${pointer}/cause/item`);
  if (error.notUndone !== undefined) texts(error.notUndone, `${pointer}/notUndone`, "must be a list of node ids");
  return error as unknown as ErrorInfo;
}

/** Where in a snapshot from outside something is read. */
export interface ReadContext {
  /** Key of the child; empty for the execution itself. */
  readonly scope: string;
  readonly pointer: string;
  readonly workflow: CompiledWorkflow;
  /** Of the whole snapshot. */
  readonly version: number;
  /** What every scope runs, by its key. */
  readonly workflows: ReadonlyMap<string, CompiledWorkflow>;
  /** Throws, because the definition has changed and lacks a node that the execution stands at. */
  readonly lacks: (nodeId: string) => never;
}

/** The place of the execution itself; `childPlaces` has those of its children. */
export function rootContext(plain: JsonObject, workflow: CompiledWorkflow, workflowId: string, version: number): ReadContext {
  const { definition } = plain;
  const actual = isJsonObject(definition) && typeof definition.hash === "string" ? definition.hash : "?";
  const lacks = (nodeId: string): never => {
    throw new StepfoldError("DEFINITION_CHANGED", { workflowId, expected: workflow.hash, actual, missing: [nodeId] });
  };
  return { scope: "", pointer: "", workflow, version, workflows: workflowsOf(plain.childStates ?? {}, workflow), lacks };
}

const segment = "[^/>@#\\s]{1,64}#[1-9]\\d{0,15}(?:/(?:0|[1-9]\\d{0,8}))?";
const keyForm = new RegExp(`^${segment}(?:>${segment})*$`);
/** How deep sub-workflows may be nested: more than any limit allows, and far less than a call stack holds. */
const maxNesting = 500;

/** What every child runs. Children may come in any order: some databases sort the keys of objects. */
function workflowsOf(value: Json, root: CompiledWorkflow): ReadonlyMap<string, CompiledWorkflow> {
  const states = object(value, "/childStates", "must be an object of children, by key");
  const found = new Map([["", root]]);
  const keys = Object.keys(states).map((key) => ({ key, nesting: key.split(">").length }));
  for (const { key, nesting } of keys.sort((a, b) => a.nesting - b.nesting)) {
    const pointer = into("/childStates", key);
    if (!keyForm.test(key)) return invalid(pointer, "is no key of a child");
    if (nesting > maxNesting) return invalid(pointer, "lies too deep");
    const around = found.get(parentKey(key));
    if (!around) return invalid(pointer, "lies in a child that is not there");
    const { workflow: name } = object(states[key], pointer);
    const workflow = typeof name === "string" ? around.workflows.get(name) : undefined;
    if (!workflow) return invalid(`${pointer}/workflow`, "must name a workflow of the definition");
    found.set(key, workflow);
  }
  return found;
}

/** The place of a child. */
export function contextIn(root: ReadContext, scope: string): ReadContext {
  return { ...root, scope, pointer: into("/childStates", scope), workflow: root.workflows.get(scope)! };
}
