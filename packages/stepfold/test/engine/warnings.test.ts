import { describe, expect, it } from "vitest";
import type { Plugin } from "../../src/engine/plugin.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { flow } from "../nodes/workflow.fixture.ts";
import { asking, engineOf, giving } from "./engine.fixture.ts";

function listening(): { readonly plugin: Plugin; readonly told: string[] } {
  const told: string[] = [];
  const plugin: Plugin = {
    onWarning: ({ code, nodeId, message }, { workflowId }) => {
      expect(message.length).toBeGreaterThan(40);
      told.push(`${workflowId} ${code} ${nodeId}`);
    },
  };
  return { plugin, told };
}

describe("an execution", () => {
  it("says once that two branches of one wave came to a join by the same edge", async () => {
    const { plugin, told } = listening();
    const { engine } = engineOf(
      // b and c both lead to m, which is not a join, so two paths come to j by the edge from m
      { a: giving(1), b: giving(1), c: giving(1), m: giving(1), slow: asking(), j: { executor: giving(1) } },
      ["a>b", "a>c", "a>slow", "b>m", "c>m", "m>j", "slow>j"],
      { plugins: [plugin], parts: { j: { join: "all" } } },
    );
    const paused = await engine.execute({ workflowId: "w" });
    expect(told).toEqual(["w JOIN_OVERRUN j"]);
    await engine.execute({ snapshot: JSON.parse(JSON.stringify(paused)), externalPayload: {} });
    expect(told).toHaveLength(1);
  });

  it("says once that very many paths are open", async () => {
    const { plugin, told } = listening();
    const leaves = Array.from({ length: 1_001 }, (_, i) => `x${i}`);
    const { engine } = engineOf(
      { a: giving(1), ...Object.fromEntries(leaves.map((leaf) => [leaf, giving(1)])) },
      leaves.map((leaf) => `a>${leaf}`),
      { plugins: [plugin] },
    );
    await engine.execute({ workflowId: "w" });
    expect(told).toEqual(["w PATHS_MANY a"]);
  });

  it("says once that it holds much", async () => {
    const { plugin, told } = listening();
    const { engine } = engineOf(
      { a: giving("x".repeat(1_000_000)), b: giving("x".repeat(1_000_000)), c: giving("x".repeat(1_000_000)), d: giving(1) },
      ["a>b", "b>c", "c>d"],
      { plugins: [plugin] },
    );
    await engine.execute({ workflowId: "w" });
    expect(told).toEqual(["w SIZE_LARGE undefined"]);
  });

  it("says that it holds much, also if the output of a sub-workflow makes it so", async () => {
    const { plugin, told } = listening();
    const large = "x".repeat(600_000);
    const output = Array.from({ length: 3 }, () => "{{ nodes.a.last.data.large }}");
    const inner = flow("inner", { a: ["set", { large }] }, [], { output });
    const outer = flow(
      "outer",
      { a: ["set", { large }], b: ["set", { large }], call: ["workflow", { workflow: "inner" }], d: "noop" },
      ["a>b", "b>call", "call>d"],
      { workflows: { inner } },
    );
    const engine = new WorkflowEngine({ workflow: outer, nodeDefinitions: builtinNodes, plugins: [plugin] });
    expect((await engine.execute({ workflowId: "w" })).status).toBe("completed");
    expect(told).toEqual(["w SIZE_LARGE undefined"]);
  });
});
