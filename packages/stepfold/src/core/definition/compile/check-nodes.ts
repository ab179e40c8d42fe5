import { isJsonObject, type JsonObject } from "../../values/json.ts";
import type { DefinitionReport } from "../definition-report.ts";
import { checkId, checkOneOf, checkType } from "./check-shape.ts";

const maxNameLength = 255;

/** Reports every mistake in the structure of the nodes. Returns the ids of the nodes. */
export function checkNodes(nodes: readonly unknown[], at: string, report: DefinitionReport): Set<string> {
  const ids = new Set<string>();
  for (const [i, node] of nodes.entries()) {
    const pointer = `${at}/${i}`;
    if (!isJsonObject(node)) {
      report.add("TYPE", pointer, "must be an object with id and type");
      continue;
    }
    checkId(node, pointer, "id", report);
    if (ids.has(node.id as string)) report.add("ID_DUPLICATE", `${pointer}/id`, `another node is called "${node.id}" already`);
    if (typeof node.id === "string") ids.add(node.id);
    checkNodeType(node, pointer, report);
    checkType(node, pointer, "metadata", "object", report);
    if (node.keep !== undefined && !isCount(node.keep)) report.add("TYPE", `${pointer}/keep`, "must be a whole number of at least 1");
    checkType(node, pointer, "incident", "boolean", report);
    checkJoin(node, pointer, report);
    for (const key of ["mutex", "when"]) checkType(node, pointer, key, "string", report);
    checkCompensation(node, pointer, report);
  }
  checkNames(nodes, at, ids, report);
  for (const [i, node] of nodes.entries()) if (isJsonObject(node)) checkCancels(node, `${at}/${i}/cancels`, ids, report);
  return ids;
}

/** Checks that no node has the name or id of another one as its name, because expressions find nodes by their names. */
function checkNames(nodes: readonly unknown[], at: string, ids: ReadonlySet<string>, report: DefinitionReport): void {
  const names = new Set<string>();
  for (const [i, node] of nodes.entries()) {
    if (!isJsonObject(node) || node.name === undefined) continue;
    const pointer = `${at}/${i}/name`;
    const { name } = node;
    if (typeof name !== "string" || name === "" || name.length > maxNameLength) {
      report.add("TYPE", pointer, `must be text of 1 to ${maxNameLength} characters`);
      continue;
    }
    if (names.has(name) || (ids.has(name) && node.id !== name))
      report.add("ID_DUPLICATE", pointer, `another node is called "${name}" already`);
    names.add(name);
  }
}

function checkNodeType(node: JsonObject, pointer: string, report: DefinitionReport): void {
  if (node.type === undefined) report.add("REQUIRED", `${pointer}/type`, "is missing: the type of the node");
  else checkType(node, pointer, "type", "string", report);
}

function checkJoin(node: JsonObject, pointer: string, report: DefinitionReport): void {
  const { join = "each", late } = node;
  if (join !== "each" && join !== "all" && !isCount(join))
    report.add("TYPE", `${pointer}/join`, 'must be "each", "all" or a whole number of at least 1');
  checkOneOf(node, pointer, "late", ["ignore", "cancel", "block"], report);
  if (late !== undefined && typeof join !== "number")
    report.add("KEY_POINTLESS", `${pointer}/late`, 'has an effect only if "join" is a number', "warning");
}

function checkCancels({ cancels }: JsonObject, pointer: string, ids: ReadonlySet<string>, report: DefinitionReport): void {
  if (cancels === undefined) return;
  if (!Array.isArray(cancels)) {
    report.add("TYPE", pointer, "must be a list of node ids");
    return;
  }
  for (const [i, id] of cancels.entries())
    if (!ids.has(id as string)) report.add("NODE_UNKNOWN", `${pointer}/${i}`, `names no node${report.suggestion(id, ids)}`);
}

function checkCompensation(node: JsonObject, pointer: string, report: DefinitionReport): void {
  const { compensate, keep } = node;
  if (compensate === undefined) return;
  if (!isJsonObject(compensate)) {
    report.add("TYPE", `${pointer}/compensate`, "must be an object with a type");
    return;
  }
  checkNodeType(compensate, `${pointer}/compensate`, report);
  if (compensate.type === "map" || compensate.type === "workflow")
    report.add("TYPE", `${pointer}/compensate/type`, "cannot be a map or a workflow: a compensation is a single step");
  if (keep !== undefined)
    report.add(
      "KEY_POINTLESS",
      `${pointer}/keep`,
      'has no effect together with "compensate": all results that may have to be undone are kept',
      "warning",
    );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
