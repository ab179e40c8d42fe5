import { warnOfText } from "../../core/definition/compiled-policy.ts";
import type { DefinitionReport } from "../../core/definition/definition-report.ts";
import type { Duration } from "../../core/values/duration.ts";
import { durationMs } from "../../core/values/duration.ts";
import { isJsonObject, type Json } from "../../core/values/json.ts";
import { pointerOf } from "../../core/values/pointer.ts";
import { judgeTimestamp } from "../../core/values/timestamp.ts";
import type { PreparedNode } from "./prepared-node.ts";

/** Handles of the engine itself, which no type has to declare. */
const ownHandles: ReadonlySet<string> = new Set(["error", "timeout"]);

/** Warns about the ways that leave a node, as far as its type tells. */
export function lintWays(node: PreparedNode, pointer: string, report: DefinitionReport): void {
  lintHandles(node, pointer, report);
  lintOutcomes(node, pointer, report);
}

/** Warns about settings of a node, or of a compensation, that can be used, but probably do not what was meant. */
export function lintSettings(node: PreparedNode, pointer: string, report: DefinitionReport): void {
  lintMembers(node, pointer, report);
  lintTimes(node, `${pointer}/data`, report);
  lintConditions(node, `${pointer}/data`, report);
}

/** Warns of edges that are never taken. */
function lintHandles({ compiled, handles, definition }: PreparedNode, pointer: string, report: DefinitionReport): void {
  const { type, data, timeout } = compiled.node;
  const warn = (message: string): void => report.warn("HANDLE_UNKNOWN", pointer, message);
  for (const [handle, edges] of compiled.edges) {
    if (edges.length === 0) continue;
    const mayTimeOut =
      timeout !== undefined || !definition.waits || (isJsonObject(data) && Object.hasOwn(data, "timeout")) || typeof data === "string";
    if (handle === "timeout" && !mayTimeOut && !outcomesOf(definition.outcomes, data).includes(handle))
      warn('an edge leaves by "timeout", and the node has no "timeout": it waits for ever');
    if (!handles || ownHandles.has(handle) || handles.has(handle)) continue;
    if (handle === "") {
      const known = [...handles].join(", ");
      warn(
        `an edge leaves by no handle, and type "${type}" ${known ? `leaves by: ${known}. Set its "sourceHandle", or list "" in "handles" of the type if it may leave by no handle` : "ends the path"}`,
      );
      continue;
    }
    warn(`an edge leaves by "${handle}", which type "${type}" does not declare${report.suggestion(handle, handles)}`);
  }
}

/**
 * Warns of handles by which the step may leave, and no edge does. A node that no edge leaves at all is an end that is meant: its output says
 * how it was left.
 */
function lintOutcomes({ compiled, definition }: PreparedNode, pointer: string, report: DefinitionReport): void {
  const { data, type } = compiled.node;
  if (compiled.next.length === 0 && compiled.edges.size === 1) return;
  for (const handle of new Set(outcomesOf(definition.outcomes, data)))
    if (!compiled.edges.has(handle))
      report.warn("HANDLE_UNUSED", pointer, `no edge leaves by "${handle}" of this ${type}: ${lost(definition.handles, handle)}`);
}

function lost(handles: readonly string[] | undefined, handle: string): string {
  return handles?.includes(handle) ? "the path would end there, as if all were well" : "the step would fail there (HANDLE_UNKNOWN)";
}

function outcomesOf(outcomes: PreparedNode["definition"]["outcomes"], data: Json | undefined): readonly string[] {
  return typeof outcomes === "function" ? outcomes(data ?? null).filter((handle) => !handle.includes("{{")) : (outcomes ?? []);
}

/** Warns of members of the node that have no effect with its type. */
function lintMembers({ compiled, definition }: PreparedNode, pointer: string, report: DefinitionReport): void {
  const { node } = compiled;
  for (const member of definition.pointless ?? [])
    if (node[member] !== undefined) report.warn("KEY_POINTLESS", `${pointer}/${member}`, `has no effect at a node of type "${node.type}"`);
}

/** Warns of constant durations and moments that are none: the step would fail when it runs. */
function lintTimes({ compiled, definition }: PreparedNode, pointer: string, report: DefinitionReport): void {
  const { durations = [], moments = [] } = definition;
  const warn = (code: "DURATION_INVALID" | "MOMENT_INVALID", place: string, problemOf: (value: string | number) => string | null): void => {
    const trail = place.split("/");
    const value = trail.reduce<Json | undefined>(
      (at, key) => (isJsonObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      compiled.node.data,
    );
    if ((typeof value !== "string" && typeof value !== "number") || String(value).includes("{{")) return;
    const problem = problemOf(value);
    if (problem !== null) report.warn(code, pointer + pointerOf(trail), problem);
  };
  for (const place of durations) warn("DURATION_INVALID", place, problemOfDuration);
  for (const place of moments) warn("MOMENT_INVALID", place, problemOfTimestamp);
}

function problemOfDuration(value: string | number): string | null {
  try {
    durationMs(value as Duration);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function problemOfTimestamp(value: string | number): string | null {
  const at = judgeTimestamp(value);
  return typeof at === "number" ? null : at;
}

/** Warns of conditions that are text, because a text is always true. */
function lintConditions({ compiled, definition }: PreparedNode, pointer: string, report: DefinitionReport): void {
  const { data } = compiled.node;
  for (const member of definition.conditions ?? []) {
    const at = pointer + pointerOf([member]);
    const value = isJsonObject(data) && Object.hasOwn(data, member) ? data[member] : undefined;
    if (compiled.data?.texts?.includes(at)) warnOfText(at, report);
    else if (typeof value === "string" && value !== "" && !value.includes("{{"))
      report.warn("CONDITION_CONSTANT", at, `is text, which is always true: for an expression write "{{ ${value.slice(0, 100)} }}"`);
  }
}
