import type { NodeDefinitions, WorkflowDefinition } from "stepfold";

/** The smallest possible executor, so that a measurement shows the cost of the engine. */
export const trivial = async (): Promise<{ data: { ok: true } }> => ({ data: { ok: true } });

/** Returns an output of 1 KB of JSON, a new object each time. */
export const oneKilobyte = async (): Promise<{ data: object }> => ({
  data: {
    id: "order-1001",
    customer: { name: "Ada Lovelace", email: "ada@example.com", since: 1843 },
    paid: true,
    total: 129.5,
    lines: Array.from({ length: 10 }, (_, index) => ({ sku: `SKU-${1000 + index}`, name: "A thing to sell", quantity: 2, price: 6.5 })),
    note: "x".repeat(180),
  },
});

/** Returns the ids of `length` nodes in a line. */
export function lineIds(length: number): readonly string[] {
  return Array.from({ length }, (_, index) => `step-${index}`);
}

/** Returns a workflow of nodes in a line, all of the type `work`. */
export function line(length: number): WorkflowDefinition {
  const ids = lineIds(length);
  return {
    id: `line-${length}`,
    nodes: ids.map((id) => ({ id, type: "work" })),
    edges: ids.slice(1).map((target, index) => ({ source: ids[index]!, target })),
  };
}

/** Returns a workflow with a fork of so many branches of one node each. With `join`, the branches meet in one last node. */
export function fork(branches: number, join?: "all"): WorkflowDefinition {
  const ids = lineIds(branches);
  const end = join === undefined ? [] : [{ id: "end", type: "work", join }];
  return {
    id: `fork-${branches}`,
    nodes: [{ id: "begin", type: "work" }, ...ids.map((id) => ({ id, type: "work" })), ...end],
    edges: ids.flatMap((id) => [{ source: "begin", target: id }, ...end.map(({ id: target }) => ({ source: id, target }))]),
  };
}

/** A workflow of one node of the type `work`, with an edge from its handle `again` back to itself. */
export const circle: WorkflowDefinition = {
  id: "circle",
  start: "work",
  nodes: [{ id: "work", type: "work" }],
  edges: [{ source: "work", target: "work", sourceHandle: "again" }],
};

/** Returns node definitions with which the circle runs `times` steps. `onStep` is called at each step with its number, from 0. */
export function circling(times: number, data: object, onStep: (step: number) => void): NodeDefinitions {
  let step = 0;
  const executor = async (): Promise<{ data: object; nextHandle: string | null }> => {
    onStep(step);
    step = (step + 1) % times;
    return { data, nextHandle: step === 0 ? null : "again" };
  };
  return { work: { executor } };
}
