import { appendFileSync } from "node:fs";
import { defineNode, type NodeDefinitions } from "stepfold";

/** Returns the definitions of a node that waits, and of a node that adds a line to a log each time it runs. */
export const nodeDefinitions = (log: string): NodeDefinitions => ({
  ask: defineNode({ executor: (_data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend()) }),
  effect: defineNode({
    executor: (_data, step) => {
      appendFileSync(log, `${step.workflowId} ran\n`);
      return { data: null };
    },
  }),
});

export const racingWorkflow = {
  id: "race",
  nodes: [
    { id: "ask", type: "ask" },
    { id: "effect", type: "effect" },
  ],
  edges: [{ source: "ask", target: "effect" }],
};
