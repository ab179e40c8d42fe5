import { appendFileSync } from "node:fs";
import { defineNode, type NodeDefinitions } from "stepfold";

/** What one racing process and the test say to each other about an execution. */
export interface Message {
  /**
   * To a racer: `resume` the wait at `node`, `start` the execution, `finish` its work, `go` on with the commit. From it:
   * `ready`, `waiting` (a branch is suspended), `decided` (the commit is made and held back), `committed` (or refused with
   * `verdict`), `answered` with `verdict`.
   */
  readonly type: "resume" | "start" | "finish" | "go" | "ready" | "waiting" | "decided" | "committed" | "answered";
  readonly workflowId: string;
  readonly node?: string;
  readonly verdict?: string;
}

/** Two branches that meet. Every run of an executor leaves a line in the log of its process. */
export const twoBranches = (left: "ask" | "work") => ({
  id: `two-branches-${left}`,
  nodes: [
    { id: "fork", type: "effect" },
    { id: "left", type: left },
    { id: "right", type: "ask" },
    { id: "join", type: "effect", join: "all" },
    { id: "after", type: "effect" },
  ],
  edges: [
    { source: "fork", target: "left" },
    { source: "fork", target: "right" },
    { source: "left", target: "join" },
    { source: "right", target: "join" },
    { source: "join", target: "after" },
  ],
});

/** @param work what a node of type `work` waits for */
export function branchNodes(log: string, work: (workflowId: string) => Promise<void> = () => Promise.resolve()): NodeDefinitions {
  const ran = (workflowId: string, what: string): void => appendFileSync(log, `${workflowId} ${what}\n`);
  return {
    ask: defineNode({
      executor: (_data, step) => {
        ran(step.workflowId, `${step.nodeId} ${step.resumed ? "resumed" : "began"}`);
        return step.resumed ? { data: step.externalPayload } : step.suspend();
      },
    }),
    work: defineNode({
      executor: async (_data, step) => {
        ran(step.workflowId, `${step.nodeId} began`);
        await work(step.workflowId);
        return { data: "worked" };
      },
    }),
    effect: defineNode({
      executor: (_data, step) => {
        ran(step.workflowId, step.nodeId);
        return { data: step.inputs?.map(({ output }) => output) ?? null };
      },
    }),
  };
}
