import { isJsonObject } from "../../core/values/json.ts";
import type { NodeDefinition, NodeDefinitions } from "../../engine/node/node-definition.ts";
import type { Untyped } from "../../engine/workflow/typed-workflows.ts";

const stubs = new WeakSet<NodeDefinition>();

/** Adds node definitions of the types whose code a test does not give: their nodes have to be mocked. */
export function withMissingTypes({ workflows, nodeDefinitions = {} }: Untyped): NodeDefinitions {
  const added: Record<string, NodeDefinition> = {};
  const look = (workflow: unknown): void => {
    if (!isJsonObject(workflow)) return;
    for (const node of Array.isArray(workflow.nodes) ? workflow.nodes : []) {
      const type = isJsonObject(node) ? node.type : undefined;
      if (typeof type === "string" && !Object.hasOwn(nodeDefinitions, type)) added[type] = stub();
    }
    if (isJsonObject(workflow.workflows)) for (const inner of Object.values(workflow.workflows)) look(inner);
  };
  for (const workflow of workflows) look(workflow);
  return { ...nodeDefinitions, ...added };
}

/** True for the node definition of a type whose code a test does not give. */
export function isStub(definition: NodeDefinition): boolean {
  return stubs.has(definition);
}

function stub(): NodeDefinition {
  const definition: NodeDefinition = { executor: () => ({ data: null }) };
  stubs.add(definition);
  return definition;
}
