import type { NodeDefinitions, WorkflowDefinition } from "stepfold";

/** The smallest work there is: what remains is the engine. */
export const trivial = async (): Promise<{ data: { ok: true } }> => ({ data: { ok: true } });

/** An output of 1 KB of JSON, made anew each time. */
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

/** The ids of a line of nodes. */
export function lineIds(length: number): readonly string[] {
  return Array.from({ length }, (_, index) => `step-${index}`);
}

/** A workflow of nodes in a line, all of the type `work`. */
export function line(length: number): WorkflowDefinition {
  const ids = lineIds(length);
  return {
    id: `line-${length}`,
    nodes: ids.map((id) => ({ id, type: "work" })),
    edges: ids.slice(1).map((target, index) => ({ source: ids[index]!, target })),
  };
}

/** A fork of so many branches of one node each; with a join they meet in one node after that. */
export function fork(branches: number, join?: "all"): WorkflowDefinition {
  const ids = lineIds(branches);
  const end = join === undefined ? [] : [{ id: "end", type: "work", join }];
  return {
    id: `fork-${branches}`,
    nodes: [{ id: "begin", type: "work" }, ...ids.map((id) => ({ id, type: "work" })), ...end],
    edges: ids.flatMap((id) => [{ source: "begin", target: id }, ...end.map(({ id: target }) => ({ source: id, target }))]),
  };
}

/** One node of the type `work` that leaves by `again` to itself. */
export const circle: WorkflowDefinition = {
  id: "circle",
  start: "work",
  nodes: [{ id: "work", type: "work" }],
  edges: [{ source: "work", target: "work", sourceHandle: "again" }],
};

/** The node definitions of a circle that goes round `times` times; `onStep` is told each time, from 0. */
export function circling(times: number, data: object, onStep: (step: number) => void): NodeDefinitions {
  let step = 0;
  const executor = async (): Promise<{ data: object; nextHandle: string | null }> => {
    onStep(step);
    step = (step + 1) % times;
    return { data, nextHandle: step === 0 ? null : "again" };
  };
  return { work: { executor } };
}
