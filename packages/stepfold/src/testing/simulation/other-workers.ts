import { isJsonObject } from "../../core/values/json.ts";
import type { NodeDefinitions } from "../../engine/node/node-definition.ts";
import { libraryOf, linkWorkflows } from "../../engine/workflow/link-workflows.ts";

/** What a process runs executions with. */
interface Code {
  readonly workflows: readonly unknown[];
  readonly nodeDefinitions: NodeDefinitions;
}

/** Leaves out the code that a worker lacks, and the workflows that it cannot run therefore. */
export function codeWithout(lacks: readonly string[], { workflows, nodeDefinitions }: Code): Code {
  if (lacks.length === 0) return { workflows, nodeDefinitions };
  const library = libraryOf(workflows);
  return {
    workflows: workflows.filter((workflow) => !needsAny(linkWorkflows(workflow, library), lacks)),
    nodeDefinitions: Object.fromEntries(Object.entries(nodeDefinitions).filter(([type]) => !lacks.includes(type))),
  };
}

/** True if a definition, or a workflow inside it, has a node of one of these types. */
export function needsAny(definition: unknown, types: readonly string[]): boolean {
  if (!isJsonObject(definition)) return false;
  const { nodes = [], workflows = {} } = definition as { readonly nodes?: readonly unknown[]; readonly workflows?: object };
  const isNeeded = (node: unknown): boolean => {
    const { type, compensate } = node as { readonly type: string; readonly compensate?: { readonly type: string } };
    return types.includes(type) || (compensate !== undefined && types.includes(compensate.type));
  };
  return nodes.some(isNeeded) || Object.values(workflows).some((inner) => needsAny(inner, types));
}
