import { expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { simulate } from "../../../src/testing/simulation/simulate.ts";

const refund = {
  id: "refund",
  nodes: [
    { id: "ready", type: "signal", data: { name: "ready" } },
    { id: "approve", type: "approval" },
    { id: "pay", type: "pay", data: "{{ input.amount }}" },
  ],
  edges: [
    { source: "ready", target: "approve" },
    { source: "approve", target: "pay", sourceHandle: "approved" },
  ],
};

it("a workflow is simulated in one line: its execution is started, and answered until it ends", async () => {
  const paid: unknown[] = [];
  const pay = defineNode({
    executor(data) {
      paid.push(data);
      return { data };
    },
  });
  const nodeDefinitions = { ...builtinNodes, pay };
  const answers = { ready: () => 1, approve: { approved: true } };
  const report = await simulate(refund, { input: { amount: 7 }, answers, nodeDefinitions, schedules: 10, mode: "liveness" });
  expect(report.failures).toEqual([]);
  expect(report.schedules).toBe(10);
  expect(paid.length).toBeGreaterThanOrEqual(10);
  expect(new Set(paid)).toEqual(new Set([7]));
});
