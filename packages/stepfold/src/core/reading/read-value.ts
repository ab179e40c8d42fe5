import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { ErrorInfo } from "../errors/error-info.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { parentKey } from "../snapshot/address.ts";
import { isJsonObject, type Json, type JsonObject } from "../values/json.ts";
import { pointerOf } from "../values/pointer.ts";
import { lastMs } from "../values/timestamp.ts";

/** The highest accepted count. It leaves room for further counting: from 2^53 on, adding 1 to a number may not change it. */
export const highestCount: number = 2 ** 52;
/** The lowest accepted version. Results that were taken over from another execution have a version of 0 or below. */
export const oldestVersion: number = -highestCount;

/** Reads an optional time or duration in milliseconds. @throws StepfoldError `SNAPSHOT_INVALID` */
export function time(value: Json | undefined, pointer: string): number | undefined {
  if (value === undefined || isIn(value, lastMs)) return value;
  return invalid(pointer, "must be a number of milliseconds, from 0 to 8.64e15");
}

/** Reads a whole number in a range. @throws StepfoldError `SNAPSHOT_INVALID` */
export function count(value: Json | undefined, pointer: string, from = 0, to: number = highestCount): number {
  if (isWhole(value) && value >= from && value <= to) return value;
  const highest = to === highestCount ? "2^52" : to;
  return invalid(pointer, `must be a whole number ${from === oldestVersion ? "up to" : `from ${from} to`} ${highest}`);
}

/** Reads a whole number without an upper limit, such as a quorum. @throws StepfoldError `SNAPSHOT_INVALID` */
export function bound(value: Json | undefined, pointer: string, from = 0): number {
  if (isWhole(value) && value >= from) return value;
  return invalid(pointer, `must be a whole number of at least ${from}`);
}

/** Refuses the snapshot. @throws StepfoldError `SNAPSHOT_INVALID` */
export function invalid(pointer: string, reason: string): never {
  throw new StepfoldError("SNAPSHOT_INVALID", { pointer, reason });
}

/** True if the value is a number from 0 to `highest`. */
export function isIn(value: Json | undefined, highest: number): value is number {
  return typeof value === "number" && value >= 0 && value <= highest;
}

function isWhole(value: Json | undefined): value is number {
  return Number.isSafeInteger(value);
}

/** Reads an object. @throws StepfoldError `SNAPSHOT_INVALID` */
export function object(value: Json | undefined, pointer: string, reason = "must be an object"): JsonObject {
  return isJsonObject(value) ? value : invalid(pointer, reason);
}

/** Reads a list. @throws StepfoldError `SNAPSHOT_INVALID` */
export function list(value: Json | undefined, pointer: string, reason = "must be a list"): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : invalid(pointer, reason);
}

/** Reads text that is not empty. @throws StepfoldError `SNAPSHOT_INVALID` */
export function text(value: Json | undefined, pointer: string, reason = "must be text"): string {
  return typeof value === "string" && value !== "" ? value : invalid(pointer, reason);
}

/** Checks that these members are text or missing. @throws StepfoldError `SNAPSHOT_INVALID` */
export function optionalText(value: JsonObject, keys: readonly string[], pointer: string): void {
  for (const key of keys) if (value[key] !== undefined && typeof value[key] !== "string") invalid(`${pointer}/${key}`, "must be text");
}

/** Reads a member that must be true or missing. @throws StepfoldError `SNAPSHOT_INVALID` */
export function flag(value: Json | undefined, pointer: string): boolean {
  return value === undefined || value === true ? value === true : invalid(pointer, "must be true, or absent");
}

/** Reads a list of texts. @throws StepfoldError `SNAPSHOT_INVALID` */
export function texts(value: Json | undefined, pointer: string, reason: string): readonly string[] {
  const names = list(value, pointer, reason);
  return names.every((name) => typeof name === "string") ? (names as readonly string[]) : invalid(pointer, reason);
}

/** Returns the JSON pointer to a member with any key. In a pointer, `/` and `~` in the key are escaped. */
export function into(pointer: string, key: string): string {
  return pointer + pointerOf([key]);
}

/** Returns an object with those of these members that are not missing, in this order. */
export function picked(value: JsonObject, keys: readonly string[]): JsonObject {
  const found: Record<string, Json> = {};
  for (const key of keys) if (value[key] !== undefined) found[key] = value[key];
  return found;
}

/** Checks an error and the errors in its `cause`. */
export function readError(value: Json, pointer: string): ErrorInfo {
  const error = object(value, pointer, "must be an object with a message");
  if (typeof error.message !== "string") return invalid(pointer, "must be an object with a message");
  optionalText(error, ["name", "code", "nodeId", "stack"], pointer);
  if (error.cause !== undefined) count((readError(error.cause, `${pointer}/cause`) as unknown as JsonObject).item, `${pointer}/cause/item`);
  if (error.notUndone !== undefined) texts(error.notUndone, `${pointer}/notUndone`, "must be a list of node ids");
  return error as unknown as ErrorInfo;
}

/** The scope of a snapshot that is being read. */
export interface ReadContext {
  /** The key of the child; empty for the execution itself. */
  readonly scope: string;
  /** The JSON pointer to the scope; empty for the execution itself. */
  readonly pointer: string;
  /** The workflow that the scope runs. */
  readonly workflow: CompiledWorkflow;
  /** The version of the whole snapshot. */
  readonly version: number;
  /** The workflow of every scope, by its key. */
  readonly workflows: ReadonlyMap<string, CompiledWorkflow>;
  /** Throws `DEFINITION_CHANGED`, because the definition lacks a node, or a part of a node, that the execution needs. */
  readonly lacks: (nodeId: string) => never;
}

/** Returns the context of the execution itself; `contextIn` gives those of its children. */
export function rootContext(plain: JsonObject, workflow: CompiledWorkflow, workflowId: string, version: number): ReadContext {
  const { definition } = plain;
  const actual = isJsonObject(definition) && typeof definition.hash === "string" ? definition.hash : "?";
  const lacks = (nodeId: string): never => {
    throw new StepfoldError("DEFINITION_CHANGED", { workflowId, expected: workflow.hash, actual, missing: [nodeId] });
  };
  return { scope: "", pointer: "", workflow, version, workflows: workflowsOf(plain.childStates ?? {}, workflow), lacks };
}

/** One part of the key of a child: `0#1` for a sub-workflow, `0#1/3` for an item of a map. */
const segment = "[^/>@#\\s]{1,64}#[1-9]\\d{0,15}(?:/(?:0|[1-9]\\d{0,8}))?";
const keyForm = new RegExp(`^${segment}(?:>${segment})*$`);
/** The largest nesting of children. It is far more than the limit `nesting` (32 by default), and far less than the call stack can hold. */
const maxNesting = 500;

/** Returns the workflow of every scope, by its key. Children may come in any order, because some databases sort the keys of objects. */
function workflowsOf(value: Json, root: CompiledWorkflow): ReadonlyMap<string, CompiledWorkflow> {
  const states = object(value, "/childStates", "must be an object of children, by key");
  const found = new Map([["", root]]);
  const keys = Object.keys(states).map((key) => ({ key, nesting: key.split(">").length }));
  for (const { key, nesting } of keys.sort((a, b) => a.nesting - b.nesting)) {
    const pointer = into("/childStates", key);
    if (!keyForm.test(key)) return invalid(pointer, "is not the key of a child");
    if (nesting > maxNesting) return invalid(pointer, "is nested too deeply");
    const around = found.get(parentKey(key));
    if (!around) return invalid(pointer, "belongs to a child that is not in the snapshot");
    const { workflow: name } = object(states[key], pointer);
    const workflow = typeof name === "string" ? around.workflows.get(name) : undefined;
    if (!workflow) return invalid(`${pointer}/workflow`, "must name a workflow of the definition");
    found.set(key, workflow);
  }
  return found;
}

/** Returns the context of a child. */
export function contextIn(root: ReadContext, scope: string): ReadContext {
  return { ...root, scope, pointer: into("/childStates", scope), workflow: root.workflows.get(scope)! };
}
