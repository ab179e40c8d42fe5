import { type Duration, durationMs } from "../../values/duration.ts";
import { isId } from "../../values/ids/id.ts";
import { isJsonObject, type Json, type JsonObject } from "../../values/json.ts";
import type { Limits } from "../../values/limits.ts";
import type { DefinitionReport } from "../definition-report.ts";
import { unknownNeeds } from "../needs.ts";
import { checkCode } from "./check-code.ts";
import { checkNodes } from "./check-nodes.ts";
import { checkId, checkOneOf, checkType } from "./check-shape.ts";

/** The highest `limit` of `concurrency`. */
const maxConcurrency = 10_000;
/** The highest `limit` of `rateLimit`. A store keeps one time for each execution that counts. */
const maxRate = 1_000;
/** The longest `period` of `rateLimit`. */
const maxPeriodMs = 366 * 24 * 60 * 60 * 1000;
/** Part of the messages that say why a workflow that runs inside another one cannot have `finally`. */
export const notForInnerWorkflows = "is only for whole executions, not for a workflow that runs inside another one";
/** How deeply definitions may be nested in `workflows`. */
const maxNesting = 8;

/** Reports every mistake in the structure of a definition: wrong types, missing members, invalid ids, edges that name no node. */
export function checkDefinition(definition: unknown, limits: Limits, report: DefinitionReport): void {
  checkWorkflow(definition, "", 0, limits, report);
}

function checkWorkflow(definition: unknown, at: string, nesting: number, limits: Limits, report: DefinitionReport): void {
  if (!isJsonObject(definition)) {
    report.add("TYPE", at, "must be an object with id, nodes and edges");
    return;
  }
  checkId(definition, at, "id", report);
  for (const key of ["name", "description", "version"]) checkType(definition, at, key, "string", report);
  checkType(definition, at, "metadata", "object", report);
  checkNeeds(definition.needs, `${at}/needs`, report);
  checkOneOf(definition, at, "onFailure", ["stop", "finish"], report);
  checkType(definition, at, "incident", "boolean", report);
  if (definition.concurrency !== undefined) checkConcurrency(definition.concurrency, `${at}/concurrency`, report);
  if (definition.rateLimit !== undefined) checkRateLimit(definition.rateLimit, `${at}/rateLimit`, report);
  if (definition.taskQueue !== undefined && !isId(definition.taskQueue))
    report.add("TYPE", `${at}/taskQueue`, "must be a name of 1 to 128 letters, digits, _ and -");
  if (definition.variables !== undefined) checkVariables(definition.variables, `${at}/variables`, limits, report);
  if (definition.input !== undefined && typeof definition.input !== "boolean") checkType(definition, at, "input", "object", report);
  const nodes = entries(definition, at, "nodes", report);
  const edges = entries(definition, at, "edges", report);
  if (nodes.length === 0 && Array.isArray(definition.nodes)) report.add("REQUIRED", `${at}/nodes`, "a workflow needs at least one node");
  if (nodes.length > limits.nodes) report.add("TOO_MANY", `${at}/nodes`, `has ${nodes.length} nodes; at most ${limits.nodes} are allowed`);
  if (edges.length > limits.edges) report.add("TOO_MANY", `${at}/edges`, `has ${edges.length} edges; at most ${limits.edges} are allowed`);
  const ids = checkNodes(nodes, `${at}/nodes`, report);
  checkEdges(edges, `${at}/edges`, ids, report);
  if (definition.start !== undefined && !ids.has(definition.start as string))
    report.add("START_UNKNOWN", `${at}/start`, `names no node${report.suggestion(definition.start, ids)}`);
  checkFinally(definition.finally, at, ids, report);
  if (definition.code !== undefined) checkCode(definition, at, nodes, edges, report);
  checkType(definition, at, "workflows", "object", report);
  if (!isJsonObject(definition.workflows)) return;
  if (nesting >= maxNesting) {
    report.add("TOO_MANY", `${at}/workflows`, `is nested deeper than ${maxNesting} levels`);
    return;
  }
  const workflows = Object.entries(definition.workflows);
  if (workflows.length > limits.workflows)
    report.add("TOO_MANY", `${at}/workflows`, `has ${workflows.length} workflows; at most ${limits.workflows} are allowed`);
  for (const [name, inner] of workflows) {
    if (!isId(name)) report.add("ID_INVALID", `${at}/workflows`, `"${name}" must be 1 to 128 letters, digits, "_" or "-"`);
    checkWorkflow(inner, `${at}/workflows/${name}`, nesting + 1, limits, report);
  }
}

function checkFinally(last: unknown, at: string, ids: ReadonlySet<string>, report: DefinitionReport): void {
  if (last === undefined) return;
  if (at !== "") report.add("FINALLY_INVALID", `${at}/finally`, `${notForInnerWorkflows}: run this workflow with "detached"`);
  else if (!ids.has(last as string)) report.add("FINALLY_INVALID", "/finally", `names no node${report.suggestion(last, ids)}`);
}

function checkNeeds(needs: unknown, at: string, report: DefinitionReport): void {
  if (needs === undefined) return;
  if (!Array.isArray(needs) || !needs.every((need) => typeof need === "string")) {
    report.add("TYPE", at, "must be a list of names");
    return;
  }
  const unknown = unknownNeeds(needs);
  if (unknown.length > 0)
    report.add("NEED_UNKNOWN", at, `this version of Stepfold does not know ${unknown.slice(0, 5).join(", ").slice(0, 200)}: update it`);
}

function checkConcurrency(concurrency: unknown, at: string, report: DefinitionReport): void {
  if (!isJsonObject(concurrency)) {
    report.add("TYPE", at, "must be an object with a key, and a limit");
    return;
  }
  const { key, limit = 1 } = concurrency;
  if (key === undefined) report.add("REQUIRED", `${at}/key`, "is missing: executions with the same key share the limit");
  else if (typeof key !== "string" || key === "") report.add("TYPE", `${at}/key`, "must be text");
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > maxConcurrency)
    report.add("TYPE", `${at}/limit`, `must be a whole number from 1 to ${maxConcurrency}`);
}

function checkRateLimit(rateLimit: unknown, at: string, report: DefinitionReport): void {
  if (!isJsonObject(rateLimit)) {
    report.add("TYPE", at, "must be an object with limit and period, and a key");
    return;
  }
  const { limit, period, key } = rateLimit;
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > maxRate)
    report.add("TYPE", `${at}/limit`, `must be a whole number from 1 to ${maxRate}`);
  if (!isPeriod(period)) report.add("TYPE", `${at}/period`, 'must be a time from 1 ms to 366 days: milliseconds, or text such as "1m"');
  if (key !== undefined && (typeof key !== "string" || key === "")) report.add("TYPE", `${at}/key`, "must be text");
}

function isPeriod(period: Json | undefined): boolean {
  try {
    const ms = durationMs(period as Duration);
    return ms >= 1 && ms <= maxPeriodMs;
  } catch {
    return false;
  }
}

function checkVariables(variables: unknown, at: string, { variables: max }: Limits, report: DefinitionReport): void {
  if (!isJsonObject(variables)) {
    report.add("TYPE", at, "must be an object of declarations, by the names of variables");
    return;
  }
  const names = Object.keys(variables);
  if (names.length > max) report.add("TOO_MANY", at, `has ${names.length} variables; at most ${max} are allowed`);
  for (const [name, variable] of Object.entries(variables)) {
    if (!isId(name)) report.add("ID_INVALID", at, `"${name}" must be 1 to 128 letters, digits, "_" or "-"`);
    else if (!isJsonObject(variable)) report.add("TYPE", `${at}/${name}`, "must be an object with initial and reducer, or empty");
    else checkVariable(variable, `${at}/${name}`, report);
  }
}

/** The type that an initial value must have for a reducer: a test, and the words for the message. */
const initialOf: Readonly<Record<string, readonly [is: (value: Json) => boolean, words: string]>> = {
  add: [(value) => typeof value === "number", "a number"],
  append: [(value) => Array.isArray(value), "a list"],
  merge: [isJsonObject, "an object"],
  max: [(value) => typeof value === "number" || typeof value === "string", "a number or text"],
};

function checkVariable({ initial, reducer = "set" }: JsonObject, at: string, report: DefinitionReport): void {
  const names = ["set", ...Object.keys(initialOf)];
  const isExpression = typeof reducer === "string" && reducer.includes("{{");
  if (!isExpression && !names.includes(reducer as string))
    report.add("TYPE", `${at}/reducer`, `must be ${names.join(", ")}, or an expression: "{{ current + value }}"`);
  if (initial === undefined) return;
  const [isRight, words] = (Object.hasOwn(initialOf, reducer as string) && initialOf[reducer as string]) || [() => true, ""];
  if (JSON.stringify(initial).includes("{{"))
    report.add("TYPE", `${at}/initial`, "is a constant, and expressions in it are not evaluated: set the variable in a node of type `set`");
  else if (!isRight(initial)) report.add("TYPE", `${at}/initial`, `must be ${words} for the reducer "${reducer}"`);
}

function checkEdges(edges: readonly unknown[], at: string, nodeIds: ReadonlySet<string>, report: DefinitionReport): void {
  const ids = new Set<unknown>();
  for (const [i, edge] of edges.entries()) {
    const pointer = `${at}/${i}`;
    if (!isJsonObject(edge)) {
      report.add("TYPE", pointer, "must be an object with source and target");
      continue;
    }
    checkType(edge, pointer, "id", "string", report);
    if (edge.id !== undefined && ids.has(edge.id))
      report.add("ID_DUPLICATE", `${pointer}/id`, `another edge is called "${edge.id}" already`);
    ids.add(edge.id);
    for (const end of ["source", "target"]) {
      if (edge[end] === undefined) report.add("REQUIRED", `${pointer}/${end}`, "is missing: the id of a node");
      else if (!nodeIds.has(edge[end] as string))
        report.add("EDGE_DANGLING", `${pointer}/${end}`, `names no node${report.suggestion(edge[end], nodeIds)}`);
    }
    if (edge.sourceHandle !== null) checkType(edge, pointer, "sourceHandle", "string", report);
  }
}

function entries(definition: JsonObject, at: string, key: string, report: DefinitionReport): readonly unknown[] {
  const list = definition[key];
  if (Array.isArray(list)) return list;
  report.add(list === undefined ? "REQUIRED" : "TYPE", `${at}/${key}`, list === undefined ? "is missing: an array" : "must be an array");
  return [];
}
