import type { WorkflowDefinition } from "stepfold/core";
import { describe, expect, it } from "vitest";
import type { ExecutionState } from "../model/replay/execution-state.ts";
import { graphOf } from "./graph.ts";
import { stepsOfCode } from "./steps-of-code.ts";

const code: WorkflowDefinition = { id: "order", code: true, nodes: [{ id: "order", type: "order" }], edges: [] };
const stateAt = (...nodeIds: string[]) => ({ nodes: new Map(nodeIds.map((id) => [id, {}])) }) as unknown as ExecutionState;

describe("the steps of code", () => {
  it("are drawn in the place of the node that holds it, in the order in which they came", () => {
    const steps = stepsOfCode(code, stateAt("charge", "order", "approve"));
    const graph = graphOf(code, "x", new Map(), steps);
    expect([...graph.nodes.keys()]).toEqual(["charge", "approve"]);
    expect(graph.frame).toBe("order");
    expect(graph.hash).not.toBe(graphOf(code, "x", new Map(), ["charge"]).hash);
  });

  it("are none before it has asked for any, and in a graph: then the nodes of the definition are drawn", () => {
    const graph: WorkflowDefinition = { id: "order", nodes: [{ id: "order", type: "noop" }], edges: [] };
    expect(stepsOfCode(graph, stateAt("order", "other"))).toEqual([]);
    for (const state of [null, stateAt("order")]) {
      const drawn = graphOf(code, "x", new Map(), stepsOfCode(code, state));
      expect([[...drawn.nodes.keys()], drawn.frame, drawn.hash]).toEqual([["order"], null, "x"]);
    }
  });
});
