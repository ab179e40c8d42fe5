import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { NodeDefinition, NodeDefinitions } from "../node/node-definition.ts";
import { isTyped } from "../node/typed.ts";

/** Definitions as plain JSON, and the node definitions that come with them. */
export interface Untyped {
  readonly workflows: readonly unknown[];
  /** Undefined if none were given, and none came with a workflow. */
  readonly nodeDefinitions: NodeDefinitions | undefined;
}

/**
 * Takes typed workflows apart: into their definitions, and their node definitions, which are added to those that are given. `createRuntime` and
 * `WorkflowEngine` do so themselves; tools that look at definitions, and may get typed workflows, call it first.
 *
 * ```ts
 * const { workflows, nodeDefinitions } = untyped([subscription, order], { mail });
 * for (const workflow of workflows) console.log(checkWorkflow(workflow, nodeDefinitions ?? {}));
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID` if two different node definitions have the same type
 */
export function untyped(workflows: readonly unknown[] = [], nodeDefinitions?: NodeDefinitions | undefined): Untyped {
  if (!workflows.some(isTyped)) return { workflows, nodeDefinitions };
  const nodes = new Map<string, NodeDefinition>(Object.entries(nodeDefinitions ?? {}));
  for (const workflow of workflows) {
    if (!isTyped(workflow)) continue;
    for (const [type, definition] of Object.entries(workflow.nodes)) {
      const known = nodes.get(type);
      if (known !== undefined && known !== definition)
        throw new StepfoldError("OPTION_INVALID", {
          option: "workflows",
          reason: `brings another node definition of the type "${type}" than is known already: rename one of them, or give it a version`,
        });
      nodes.set(type, definition);
    }
  }
  return {
    workflows: workflows.map((workflow) => (isTyped(workflow) ? workflow.definition : workflow)),
    nodeDefinitions: Object.fromEntries(nodes),
  };
}
