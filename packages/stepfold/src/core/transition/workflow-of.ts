import type { CompiledWorkflow } from "../definition/compiled.ts";
import { parentKey } from "../snapshot/child-key.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** The workflow that a scope of a snapshot runs; undefined if the snapshot is another workflow's. */
export function workflowOf(
  workflow: CompiledWorkflow,
  { childStates = {} }: Pick<Snapshot, "childStates">,
  scope: string,
): CompiledWorkflow | undefined {
  if (scope === "") return workflow;
  const name = childStates[scope]?.workflow;
  return name === undefined ? undefined : workflowOf(workflow, { childStates }, parentKey(scope))?.workflows.get(name);
}
