import type { WorkflowDefinition } from "../core/definition/definition.ts";
import { describeNodeType, type NodeTypeInfo } from "../engine/workflow/describe-node-type.ts";
import type { RuntimeContext } from "./context/runtime-context.ts";

/** The workflows and node types of a runtime, as plain JSON: for editors, forms, and pages that show executions. */
export interface RuntimeDescription {
  /** The workflows that can be started by their ids. */
  readonly workflows: readonly WorkflowInfo[];
  /** The node types whose code this runtime has, sorted by name. */
  readonly nodeTypes: readonly NodeTypeInfo[];
}

/** A workflow that can be started. */
export interface WorkflowInfo {
  readonly id: string;
  /** The hash of the definition. Executions that are started now are pinned to it. */
  readonly hash: string;
  /** The definition, with everything that it uses of other workflows of the runtime. */
  readonly definition: WorkflowDefinition;
  /** Node types of the workflow whose code this runtime does not have. Other processes must run its executions. */
  readonly missingTypes: readonly string[];
}

/** Describes the workflows and node types of a runtime. */
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
