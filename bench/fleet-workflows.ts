import { defineNode, type NodeDefinitions, type WorkflowDefinition } from "stepfold";

/** Nodes of the executions that fleets drive. @param mark told when an execution comes to its node `mark` */
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

/** Ten steps; and a timer with two steps after it. */
export const fleetWorkflows: readonly WorkflowDefinition[] = [
  line("ten", [...Array.from({ length: 9 }, () => "work"), "mark"]),
  line("herd", ["work", "nap", "mark"]),
  line("new", ["work", "work", "mark"]),
];
