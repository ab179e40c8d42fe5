import { appendFileSync } from "node:fs";
import { defineNode, type NodeDefinitions } from "stepfold";

/** A message about an execution between a racing process and the test. */
export interface Message {
  /**
   * Messages to a racer: `resume` the wait at `node`, `start` the execution, `finish` its work, `go` on with the commit.
   * Messages from a racer: `ready`, `waiting` (a branch is suspended), `decided` (the commit is prepared and held back), `committed`
   * (made, or refused with `verdict`), `answered` with `verdict`.
   */
  readonly type: "resume" | "start" | "finish" | "go" | "ready" | "waiting" | "decided" | "committed" | "answered";
  readonly workflowId: string;
  readonly node?: string;
  readonly verdict?: string;
}

/** Returns a workflow with two branches that meet in a join. Each run of an executor adds a line to the log of its process. */
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

/**
 * Returns the node definitions of this workflow.
 * @param work returns the promise that a node of type `work` waits for
 */
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
