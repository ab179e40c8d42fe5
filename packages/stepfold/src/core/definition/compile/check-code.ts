import { isJsonObject, type JsonObject } from "../../values/json.ts";
import type { DefinitionReport } from "../definition-report.ts";

/** Members of a workflow that describe a graph: a workflow whose steps are asked for by code has none. */
const ofGraphs = ["finally", "start", "onFailure", "incident", "output"] as const;
/** Members of the node that holds the code: nothing arrives at it but the one path, and the failure of the code is that of the workflow. */
const ofNodes = ["join", "late", "cancels", "mutex", "when", "keep", "compensate", "incident", "retryPolicy"] as const;

/** Reports every mistake of a workflow whose steps are asked for by code: it has one node, no edges, and nothing that is about a graph. */
export function checkCode(
  definition: JsonObject,
  at: string,
  nodes: readonly unknown[],
  edges: readonly unknown[],
  report: DefinitionReport,
): void {
  const { code } = definition;
  if (code !== true && code !== "undo") report.add("TYPE", `${at}/code`, 'must be true, or "undo" if steps can be undone');
  if (nodes.length > 1) report.add("TOO_MANY", `${at}/nodes`, "a workflow with code has one node: the code asks for its steps");
  if (edges.length > 0) report.add("TOO_MANY", `${at}/edges`, "a workflow with code has no edges: the code decides what comes next");
  for (const member of ofGraphs)
    if (definition[member] !== undefined) report.add("KEY_POINTLESS", `${at}/${member}`, "has no effect in a workflow with code");
  const [node] = nodes;
  if (!isJsonObject(node)) return;
  for (const member of ofNodes)
    if (node[member] !== undefined)
      report.add("KEY_POINTLESS", `${at}/nodes/0/${member}`, "has no effect on code: the steps that it asks for have their own settings");
}
