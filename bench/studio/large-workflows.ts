import { defineNode, type Node, type NodeDefinitions, type WorkflowDefinition } from "stepfold";
import { builtinNodes } from "stepfold/nodes";

/** A loop of two nodes: two events for each visit. */
export const loop: WorkflowDefinition = {
  id: "loop",
  start: "count",
  nodes: [
    { id: "count", type: "count", data: { n: "{{ (nodes.count.last?.data.n ?? 0) + 1 }}" } },
    { id: "more", type: "more", data: { isMore: "{{ nodes.count.last.data.n < input.visits }}" } },
    { id: "done", type: "end", data: {} },
  ],
  edges: [
    { source: "count", target: "more" },
    { source: "more", target: "count", sourceHandle: "again" },
    { source: "more", target: "done", sourceHandle: "enough" },
  ],
};

/** A map of which all items but the last one are done. */
export const map: WorkflowDefinition = {
  id: "map",
  nodes: [{ id: "pack", type: "map", data: { workflow: "parcel", items: "{{ input.parcels }}", concurrency: 100 } }],
  edges: [],
  workflows: { parcel: { id: "parcel", nodes: [{ id: "wrap", type: "wrap", data: { parcel: "{{ input }}" } }], edges: [] } },
};

/** 500 nodes: ten lines of 49 between a first one and a join, and eight after it. */
export const wide: WorkflowDefinition = wideWorkflow(10, 49);

/** Does nothing. */
export const idle: WorkflowDefinition = { id: "idle", nodes: [{ id: "wait", type: "approval", data: { title: "Go on?" } }], edges: [] };

function wideWorkflow(lines: number, length: number): WorkflowDefinition {
  const node = (id: string): Node => ({ id, type: "set", data: { id } });
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
  const line = (name: string, count: number): string[] => numbers(count).map((place) => `${name}-${place}`);
  const chain = (ids: readonly string[]): { source: string; target: string }[] =>
    ids.slice(1).map((target, index) => ({ source: ids[index]!, target }));
  const all = numbers(lines).map((number) => line(`line-${number}`, length));
  const end = ["joined", ...line("last", 8)];
  return {
    id: "wide",
    start: "first",
    nodes: ["first", ...all.flat(), ...end].map((id) => (id === "joined" ? { ...node(id), join: "all" } : node(id))),
    edges: [...all.flatMap((ids) => chain(["first", ...ids, "joined"])), ...chain(end)],
  };
}

/** The code of all nodes. */
export const largeNodes: NodeDefinitions = {
  ...builtinNodes,
  count: defineNode({ executor: ({ n }: { n: number }) => ({ data: { n, note: `visit ${n}` } }) }),
  more: defineNode({
    handles: ["again", "enough"],
    executor: ({ isMore }: { isMore: boolean }) => ({ data: null, nextHandle: isMore ? ("again" as const) : ("enough" as const) }),
  }),
  wrap: defineNode({
    executor: ({ parcel }: { parcel: { n: number; isLast: boolean } }, step) =>
      parcel.isLast ? step.suspend("Who takes the last one?") : { data: { wrapped: parcel.n } },
  }),
} as NodeDefinitions;
