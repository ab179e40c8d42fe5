import type { WorkflowDefinition } from "../../core/definition/definition.ts";
import { untyped } from "../../engine/workflow/typed-workflows.ts";
import type { Scenario } from "./scenario.ts";

/**
 * Returns how many attempts each node may have, by its id. Of several nodes with the same id
 * the highest number counts. If the number is not a plain number, it is infinite.
 */
export function maxAttemptsByNode({ workflows, nodeDefinitions }: Scenario): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  const add = ({ nodes, workflows: inner = {} }: WorkflowDefinition): void => {
    for (const { id, type, retryPolicy } of nodes) {
      const { maxAttempts = 1 } =
        retryPolicy ?? (Object.hasOwn(nodeDefinitions, type) ? nodeDefinitions[type]?.retryPolicy : undefined) ?? {};
      const attempts = typeof maxAttempts === "number" ? maxAttempts : Number.POSITIVE_INFINITY;
      most.set(id, Math.max(attempts, most.get(id) ?? 0));
    }
    for (const workflow of Object.values(inner)) add(workflow);
  };
  const all = typeof workflows === "function" ? [...workflows(0), ...workflows(1)] : workflows;
  for (const workflow of untyped(all, nodeDefinitions).workflows) add(workflow as WorkflowDefinition);
  return most;
}
