import type { WorkflowDefinition } from "../core/definition/definition.ts";
import { describeNodeType, type NodeTypeInfo } from "../engine/workflow/describe-node-type.ts";
import type { RuntimeContext } from "./context/runtime-context.ts";

/** What a runtime was made with, as plain JSON: for editors, forms, and pages that show executions. */
export interface RuntimeDescription {
  /** The workflows that can be started by their ids. */
  readonly workflows: readonly WorkflowInfo[];
  /** The node types whose code is here, by name. */
  readonly nodeTypes: readonly NodeTypeInfo[];
}

/** A workflow that can be started. */
export interface WorkflowInfo {
  readonly id: string;
  /** Of the definition: executions that are started now are pinned to it. */
  readonly hash: string;
  /** With everything that it takes from other workflows of the runtime. */
  readonly definition: WorkflowDefinition;
  /** Node types that it has and whose code is not here: others must drive it. */
  readonly missingTypes: readonly string[];
}

/** What a runtime was made with. */
export function describeRuntime({ registry, setting }: RuntimeContext): RuntimeDescription {
  return {
    workflows: registry
      .named()
      .map(({ compiled: { definition, hash }, missingTypes }) => ({ id: definition.id, hash, definition, missingTypes })),
    nodeTypes: Object.entries(registry.nodeDefinitions)
      .map(([type, definition]) => describeNodeType(type, definition, setting.limits))
      .sort((a, b) => (a.type < b.type ? -1 : 1)),
  };
}
