import type { CompiledWorkflow } from "../definition/compiled.ts";
import { parentKey } from "../snapshot/child-key.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";

/** The workflow that a scope of a snapshot runs. */
export function workflowOf(workflow: CompiledWorkflow, snapshot: Pick<Snapshot, "childStates">, scope: string): CompiledWorkflow {
  if (scope === "") return workflow;
  return workflowOf(workflow, snapshot, parentKey(scope)).workflows.get(snapshot.childStates![scope]!.workflow)!;
}
