import type { Issue } from "../errors/issue.ts";
import { isId } from "../values/id.ts";
import { isJsonObject, type JsonObject } from "../values/json.ts";
import type { Limits } from "../values/limits.ts";
import { checkNodes } from "./check-nodes.ts";
import { checkId, checkKeys, checkOneOf, checkType, type Report, suggestion } from "./check-shape.ts";

const definitionKeys = [
  "id",
  "name",
  "description",
  "version",
  "metadata",
  "input",
  "output",
  "start",
  "nodes",
  "edges",
  "onFailure",
  "concurrency",
  "workflows",
];
const concurrencyKeys = ["key", "limit"];
const edgeKeys = ["id", "source", "target", "sourceHandle", "targetHandle"];
/** The highest limit of a concurrency key. */
const maxConcurrency = 10_000;
/** How deep definitions may be nested. */
const maxNesting = 8;

/** How many unknown ends of edges get a suggestion: each costs a look at every node. */
const maxSuggestions = 20;

/** Every mistake in the shape of a definition: types, missing parts, ids, edges that lead nowhere. */
export function checkDefinition(definition: unknown, limits: Limits): Issue[] {
  const issues: Issue[] = [];
  checkWorkflow(definition, "", 0, limits, (code, pointer, message, severity = "error") =>
    issues.push({ severity, code, pointer, message }),
  );
  return issues;
}

function checkWorkflow(definition: unknown, at: string, nesting: number, limits: Limits, report: Report): void {
  if (!isJsonObject(definition)) {
    report("TYPE", at, "must be an object with id, nodes and edges");
    return;
  }
  checkKeys(definition, at, definitionKeys, report);
  checkId(definition, at, "id", report);
  for (const key of ["name", "description", "version"]) checkType(definition, at, key, "string", report);
  checkType(definition, at, "metadata", "object", report);
  checkOneOf(definition, at, "onFailure", ["stop", "finish"], report);
  if (definition.concurrency !== undefined) checkConcurrency(definition.concurrency, `${at}/concurrency`, report);
  if (definition.input !== undefined && typeof definition.input !== "boolean") checkType(definition, at, "input", "object", report);
  const nodes = entries(definition, at, "nodes", report);
  const edges = entries(definition, at, "edges", report);
  if (nodes.length === 0 && Array.isArray(definition.nodes)) report("REQUIRED", `${at}/nodes`, "a workflow needs at least one node");
  if (nodes.length > limits.nodes) report("TOO_MANY", `${at}/nodes`, `has ${nodes.length} nodes; at most ${limits.nodes} are allowed`);
  const ids = checkNodes(nodes, `${at}/nodes`, report);
  checkEdges(edges, `${at}/edges`, ids, report);
  if (definition.start !== undefined && !ids.has(definition.start as string))
    report("START_UNKNOWN", `${at}/start`, `names no node${suggestion(definition.start, ids)}`);
  checkType(definition, at, "workflows", "object", report);
  if (!isJsonObject(definition.workflows)) return;
  if (nesting >= maxNesting) {
    report("TOO_MANY", `${at}/workflows`, `is nested deeper than ${maxNesting} levels`);
    return;
  }
  for (const [name, inner] of Object.entries(definition.workflows)) {
    if (!isId(name)) report("ID_INVALID", `${at}/workflows`, `"${name}" must be 1 to 128 letters, digits, "_" or "-"`);
    checkWorkflow(inner, `${at}/workflows/${name}`, nesting + 1, limits, report);
  }
}

function checkConcurrency(concurrency: unknown, at: string, report: Report): void {
  if (!isJsonObject(concurrency)) {
    report("TYPE", at, "must be an object with a key, and a limit");
    return;
  }
  checkKeys(concurrency, at, concurrencyKeys, report);
  const { key, limit = 1 } = concurrency;
  if (key === undefined) report("REQUIRED", `${at}/key`, "is missing: what executions share that take turns");
  else if (typeof key !== "string" || key === "") report("TYPE", `${at}/key`, "must be text");
  if (!Number.isInteger(limit) || (limit as number) < 1 || (limit as number) > maxConcurrency)
    report("TYPE", `${at}/limit`, `must be a whole number from 1 to ${maxConcurrency}`);
}

function checkEdges(edges: readonly unknown[], at: string, nodeIds: ReadonlySet<string>, report: Report): void {
  const ids = new Set<unknown>();
  let suggestions = maxSuggestions;
  for (const [i, edge] of edges.entries()) {
    const pointer = `${at}/${i}`;
    if (!isJsonObject(edge)) {
      report("TYPE", pointer, "must be an object with source and target");
      continue;
    }
    checkKeys(edge, pointer, edgeKeys, report);
    checkType(edge, pointer, "id", "string", report);
    if (edge.id !== undefined && ids.has(edge.id)) report("ID_DUPLICATE", `${pointer}/id`, `another edge is called "${edge.id}" already`);
    ids.add(edge.id);
    for (const end of ["source", "target"]) {
      if (edge[end] === undefined) report("REQUIRED", `${pointer}/${end}`, "is missing: the id of a node");
      else if (!nodeIds.has(edge[end] as string))
        report("EDGE_DANGLING", `${pointer}/${end}`, `names no node${suggestions-- > 0 ? suggestion(edge[end], nodeIds) : ""}`);
    }
    if (edge.sourceHandle !== null) checkType(edge, pointer, "sourceHandle", "string", report);
  }
}

function entries(definition: JsonObject, at: string, key: string, report: Report): readonly unknown[] {
  const list = definition[key];
  if (Array.isArray(list)) return list;
  report(list === undefined ? "REQUIRED" : "TYPE", `${at}/${key}`, list === undefined ? "is missing: an array" : "must be an array");
  return [];
}
