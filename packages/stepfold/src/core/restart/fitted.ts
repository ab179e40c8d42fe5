import type { CompiledWorkflow } from "../definition/compiled.ts";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { parentKey } from "../snapshot/address.ts";
import { type ActivePath, isTerminal, type Snapshot } from "../snapshot/snapshot.ts";

/**
 * Fits an execution to another definition: a path that was held where nothing holds it any more is ready.
 *
 * @throws StepfoldError `DEFINITION_CHANGED` if the definition lacks a workflow, a node or a join at which a path stands
 */
export function fitted(snapshot: Snapshot, workflow: CompiledWorkflow): Snapshot {
  const { workflowId, definition, childStates = {} } = snapshot;
  const workflows = new Map([["", workflow]]);
  const lacks = (nodeId: string): StepfoldError =>
    new StepfoldError("DEFINITION_CHANGED", { workflowId, expected: workflow.hash, actual: definition.hash, missing: [nodeId] });
  const inScope = (paths: readonly ActivePath[], { nodes }: CompiledWorkflow): ActivePath[] =>
    paths.map((path) => {
      const node = nodes.get(path.nodeId);
      if (!node) throw lacks(path.nodeId);
      if (path.status === "joining" && !node.join?.edges.some(({ via }) => via === path.via)) throw lacks(path.nodeId);
      return path.status === "held" && !node.when && node.node.mutex === undefined ? { ...path, status: "ready" } : path;
    });
  const children = Object.entries(childStates).map(([key, child]) => {
    const own = workflows.get(parentKey(key))?.workflows.get(child.workflow);
    if (!own) throw lacks(child.currentNodeId ?? child.workflow);
    workflows.set(key, own);
    return [key, isTerminal(child.status) ? child : { ...child, activePaths: inScope(child.activePaths, own) }] as const;
  });
  return {
    ...snapshot,
    activePaths: inScope(snapshot.activePaths, workflow),
    ...(snapshot.childStates && { childStates: Object.fromEntries(children) }),
  };
}
