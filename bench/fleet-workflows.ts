import { defineNode, type NodeDefinitions, type WorkflowDefinition } from "stepfold";

/**
 * The node definitions of the executions that fleets drive.
 * @param mark is called when an execution reaches its node `mark`
 */
export function fleetNodes(mark: (workflowId: string) => void): NodeDefinitions {
  return {
    work: defineNode({ executor: async () => ({ data: { ok: true } }) }),
    nap: defineNode({
      executor: (_data, step) =>
        step.resumed ? { data: "slept" } : { __pause: true, resumeAt: (step.input as { readonly until: number }).until },
    }),
    mark: defineNode({
      executor: async (_data, step) => {
        mark(step.workflowId);
        return { data: { ok: true } };
      },
    }),
  } as NodeDefinitions;
}

function line(id: string, types: readonly string[]): WorkflowDefinition {
  return {
    id,
    nodes: types.map((type, i) => ({ id: `${type}${i}`, type })),
    edges: types.slice(1).map((type, i) => ({ source: `${types[i]}${i}`, target: `${type}${i + 1}` })),
  };
}

/** The workflows of fleets: ten steps, a timer between two steps, and three steps. */
export const fleetWorkflows: readonly WorkflowDefinition[] = [
  line("ten", [...Array.from({ length: 9 }, () => "work"), "mark"]),
  line("herd", ["work", "nap", "mark"]),
  line("new", ["work", "work", "mark"]),
];
