import { defineNode, FatalError, type NodeDefinitions, type WorkflowDefinition } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

/** A loop in which each step is one event: until there were `most` steps, or until the process that runs it is told to finish. */
const ticking: WorkflowDefinition = {
  id: "ticking",
  start: "tick",
  nodes: [
    {
      id: "tick",
      type: "tick",
      data: { n: "{{ (nodes.tick.last?.data.n ?? 0) + 1 }}", ms: "{{ input.ms }}", most: "{{ input.most }}" },
    },
    { id: "done", type: "end", data: { output: "{{ nodes.tick.last.data.n }} ticks" } },
  ],
  edges: [
    { source: "tick", target: "tick", sourceHandle: "again" },
    { source: "tick", target: "done", sourceHandle: "enough" },
  ],
};

/** Asks somebody, and ends with the answer. */
const asking: WorkflowDefinition = {
  id: "asking",
  nodes: [
    { id: "ask", type: "approval", data: { title: "Order {{ input.order }}" } },
    { id: "sent", type: "end", data: { output: "sent" } },
  ],
  edges: [{ source: "ask", target: "sent", sourceHandle: "approved" }],
};

/** Fails at its second step until the process that runs it is told to mend it. */
const fragile: WorkflowDefinition = {
  id: "fragile",
  nodes: [
    { id: "pack", type: "set", data: { parcel: "{{ input.order }}" } },
    { id: "carry", type: "fragile", data: {} },
  ],
  edges: [{ source: "pack", target: "carry" }],
};

/** The workflows of a driving process. */
export const tickingWorkflows: readonly WorkflowDefinition[] = [ticking, asking, fragile];

/** What a driving process is told while it runs. */
export interface Orders {
  /** Loops end at their next step. */
  isFinishing: boolean;
  /** What was fragile holds. */
  isMended: boolean;
}

/** The code of their nodes, which does as it is told. */
export function tickingNodes(orders: Orders): NodeDefinitions {
  return {
    ...builtinNodes,
    tick: defineNode({
      handles: ["again", "enough"],
      async executor({ n, ms, most }: { n: number; ms: number; most: number }) {
        await new Promise((resolve) => setTimeout(resolve, ms));
        const isEnough = orders.isFinishing || n >= most;
        return { data: { n, note: `tick ${n}`.padEnd(100, ".") }, nextHandle: isEnough ? ("enough" as const) : ("again" as const) };
      },
    }),
    fragile: defineNode({
      executor() {
        if (!orders.isMended) throw new FatalError("It broke on the way");
        return { data: "carried" };
      },
    }),
  } as NodeDefinitions;
}
