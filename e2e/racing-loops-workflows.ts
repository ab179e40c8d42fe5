/** Goes on with its next run at once, for ever. */
const loop = {
  id: "loop",
  nodes: [
    { id: "step", type: "noop" },
    { id: "again", type: "end", data: { continueAs: { input: { n: "{{ (input?.n ?? 0) + 1 }}" } } } },
  ],
  edges: [{ source: "step", target: "again" }],
};

/** Starts a loop as an execution of its own, and waits for its end, which never comes by itself. */
const parent = {
  id: "parent",
  nodes: [{ id: "call", type: "workflow", data: { workflow: "loop", detached: true, workflowId: "{{ input.child }}" } }],
  edges: [],
};

/** The same with a time limit of the node. */
const hasty = {
  id: "hasty",
  nodes: [
    {
      ...{ id: "call", type: "workflow", timeout: "{{ input.ms }}" },
      data: { workflow: "loop", detached: true, workflowId: "{{ input.child }}" },
    },
  ],
  edges: [],
};

export const loopingWorkflows = [loop, parent, hasty];
