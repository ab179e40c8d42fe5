import { describe, expect, it } from "vitest";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import { WorkflowEngine } from "../engine/workflow-engine.ts";
import { builtinNodes } from "./index.ts";

const workflow = (data: object): object => ({
  id: "w",
  nodes: [
    { id: "check", type: "if", data },
    { id: "yes", type: "end", data: { output: "yes" } },
    { id: "no", type: "end", data: { output: "no" } },
  ],
  edges: [
    { source: "check", target: "yes", sourceHandle: "true" },
    { source: "check", target: "no", sourceHandle: "false" },
  ],
});
const run = (data: object, input?: unknown): Promise<Snapshot> =>
  new WorkflowEngine({ workflow: workflow(data), nodeDefinitions: builtinNodes }).execute({ input });

describe("if", () => {
  it.each([
    [true, "yes"],
    [1, "yes"],
    ["x", "yes"],
    ["false", "yes"],
    ["0", "yes"],
    [[], "yes"],
    [{}, "yes"],
    [false, "no"],
    [0, "no"],
    ["", "no"],
    [null, "no"],
  ])("takes %j as JavaScript does", async (value, way) => {
    const { output } = await run({ condition: "{{ input.value }}" }, { value });
    expect(output).toBe(way);
  });

  it("compares in one expression and passes on what came", async () => {
    const snapshot = await run({ condition: "{{ input.total > 100 }}" }, { total: 100 });
    expect(snapshot.output).toBe("no");
    expect(snapshot.context.check?.[0]?.output).toEqual({ total: 100 });
  });

  it("takes what is missing as false", async () => {
    expect((await run({ condition: "{{ input.vip }}" }, {})).output).toBe("no");
  });

  it("ends the path where the way taken has no edge", async () => {
    const { nodes, edges } = workflow({ condition: false }) as { nodes: object[]; edges: object[] };
    const engine = new WorkflowEngine({
      workflow: { id: "w", nodes: nodes.slice(0, 2), edges: edges.slice(0, 1) },
      nodeDefinitions: builtinNodes,
    });
    expect(await engine.execute({})).toMatchObject({ status: "completed", output: null });
  });
});
