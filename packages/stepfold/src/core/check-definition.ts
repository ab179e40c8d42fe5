import { isId } from "./id.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import type { Limits } from "./limits.ts";
import { similar } from "./similar.ts";
import type { Issue, IssueCode } from "./template.ts";

const definitionKeys = ["id", "name", "description", "version", "metadata", "input", "output", "start", "nodes", "edges"];
const nodeKeys = ["id", "type", "data", "retryPolicy", "timeout", "keep", "metadata"];
const edgeKeys = ["id", "source", "target", "sourceHandle", "targetHandle"];

/** Words of the format that this version does not act on yet; ignoring them would run another workflow than the one meant. */
const unsupported: Readonly<Record<string, unknown>> = {
  join: "each",
  onFailure: "stop",
  late: undefined,
  cancels: undefined,
  mutex: undefined,
  when: undefined,
  compensate: undefined,
  workflows: undefined,
};

/** Edges whose ends are looked up among all similar names: each costs as much as there are nodes. */
const mostSuggestions = 20;

type Report = (code: IssueCode, pointer: string, message: string, severity?: Issue["severity"]) => void;

/** Every mistake in the shape of a definition: types, missing parts, ids, edges that lead nowhere. */
export function checkDefinition(definition: unknown, limits: Limits): Issue[] {
  const issues: Issue[] = [];
  const report: Report = (code, pointer, message, severity = "error") => issues.push({ severity, code, pointer, message });
  if (!isJsonObject(definition)) {
    report("TYPE", "", "must be an object with id, nodes and edges");
    return issues;
  }
  checkKeys(definition, "", definitionKeys, report);
  checkId(definition, "", "id", report);
  for (const key of ["name", "description", "version"]) checkType(definition, "", key, "string", report);
  checkType(definition, "", "metadata", "object", report);
  if (definition.input !== undefined && typeof definition.input !== "boolean") checkType(definition, "", "input", "object", report);
  const nodes = entries(definition, "nodes", report);
  const edges = entries(definition, "edges", report);
  if (nodes.length === 0 && Array.isArray(definition.nodes)) report("REQUIRED", "/nodes", "a workflow needs at least one node");
  if (nodes.length > limits.nodes) report("TOO_MANY", "/nodes", `has ${nodes.length} nodes; at most ${limits.nodes} are allowed`);
  const ids = checkNodes(nodes, report);
  checkEdges(edges, ids, report);
  if (definition.start !== undefined && !ids.has(definition.start as string)) {
    report("START_UNKNOWN", "/start", `names no node${suggestion(definition.start, ids)}`);
  }
  return issues;
}

function checkNodes(nodes: readonly unknown[], report: Report): Set<string> {
  const ids = new Set<string>();
  for (const [i, node] of nodes.entries()) {
    const pointer = `/nodes/${i}`;
    if (!isJsonObject(node)) {
      report("TYPE", pointer, "must be an object with id and type");
      continue;
    }
    checkKeys(node, pointer, nodeKeys, report);
    checkId(node, pointer, "id", report);
    if (ids.has(node.id as string)) report("ID_DUPLICATE", `${pointer}/id`, `another node is called "${node.id}" already`);
    if (typeof node.id === "string") ids.add(node.id);
    if (node.type === undefined) report("REQUIRED", `${pointer}/type`, "is missing: the type of the node");
    else checkType(node, pointer, "type", "string", report);
    checkType(node, pointer, "metadata", "object", report);
    if (node.keep !== undefined && !(Number.isSafeInteger(node.keep) && (node.keep as number) >= 1))
      report("TYPE", `${pointer}/keep`, "must be a whole number from 1 on");
  }
  return ids;
}

function checkEdges(edges: readonly unknown[], nodeIds: ReadonlySet<string>, report: Report): void {
  const ids = new Set<unknown>();
  let suggestions = mostSuggestions;
  for (const [i, edge] of edges.entries()) {
    const pointer = `/edges/${i}`;
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

function checkKeys(value: JsonObject, pointer: string, known: readonly string[], report: Report): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    if (Object.hasOwn(unsupported, key)) {
      if (value[key] !== unsupported[key])
        report("UNSUPPORTED", `${pointer}/${key}`, `"${key}" is part of the format, but this version of Stepfold does not run it yet`);
      continue;
    }
    // editors keep keys of their own beside ours; only what looks like one of ours misspelt is worth a word
    const meant = similar(key, known);
    if (meant) report("KEY_UNKNOWN", `${pointer}/${key}`, `is not read. Did you mean "${meant}"?`, "warning");
  }
}

function checkId(value: JsonObject, pointer: string, key: string, report: Report): void {
  if (value[key] === undefined) report("REQUIRED", `${pointer}/${key}`, "is missing");
  else if (!isId(value[key])) report("ID_INVALID", `${pointer}/${key}`, 'must be 1 to 128 letters, digits, "_" or "-"');
}

function checkType(value: JsonObject, pointer: string, key: string, type: "string" | "object", report: Report): void {
  const found = value[key];
  if (found === undefined || (type === "object" ? isJsonObject(found) : typeof found === type)) return;
  report("TYPE", `${pointer}/${key}`, `must be ${type === "object" ? "an object" : "text"}`);
}

function entries(definition: JsonObject, key: string, report: Report): readonly unknown[] {
  const list = definition[key];
  if (Array.isArray(list)) return list;
  report(list === undefined ? "REQUIRED" : "TYPE", `/${key}`, list === undefined ? "is missing: an array" : "must be an array");
  return [];
}

function suggestion(name: unknown, known: ReadonlySet<string>): string {
  const meant = typeof name === "string" ? similar(name, known) : undefined;
  return meant ? `. Did you mean "${meant}"?` : "";
}
