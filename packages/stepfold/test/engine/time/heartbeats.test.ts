import { describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { VirtualEnvironment } from "../virtual-environment.fixture.ts";

/** Executes a step that works until the test calls `finish`, and gives a heartbeat when the test calls `beat`. */
function working(node: object) {
  const clock = new VirtualEnvironment();
  let beat: () => void = () => undefined;
  let finish: () => void = () => undefined;
  const aborted: unknown[] = [];
  const nodeDefinitions = {
    ...builtinNodes,
    work: defineNode({
      executor: (_data, step) => {
        step.signal.addEventListener("abort", () => aborted.push(step.signal.reason));
        beat = () => step.heartbeat();
        return new Promise<{ data: string }>((resolve) => {
          finish = () => resolve({ data: "worked" });
        });
      },
    }),
  };
  const workflow = { id: "w", nodes: [{ id: "work", type: "work", ...node }], edges: [] };
  const engine = new WorkflowEngine({ workflow: workflow as never, nodeDefinitions, environment: clock });
  const ended = engine.execute({ workflowId: "x" });
  const pass = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { ended, pass, aborted, beat: () => beat(), finish: () => finish() };
}

describe("a step with a heartbeatTimeout", () => {
  it("works on as long as it gives heartbeats", async () => {
    const { ended, pass, beat, finish } = working({ heartbeatTimeout: "1s", timeout: "1h" });
    await pass(0);
    for (let times = 0; times < 10; times++) {
      await pass(900);
      beat();
    }
    finish();
    expect(await ended).toMatchObject({ status: "completed", output: "worked" });
  });

  it("is aborted once it gives none, and fails with a code that says so", async () => {
    const { ended, pass, beat, aborted } = working({ heartbeatTimeout: "1s", timeout: "1h" });
    await pass(0);
    await pass(900);
    beat();
    await pass(1_000);
    expect(await ended).toMatchObject({ status: "failed", error: { code: "HEARTBEAT_TIMEOUT", nodeId: "work" } });
    expect(aborted).toMatchObject([{ code: "HEARTBEAT_TIMEOUT" }]);
  });

  it("is still bound by its timeout", async () => {
    const { ended, pass, beat } = working({ heartbeatTimeout: "1s", timeout: "2s" });
    await pass(0);
    for (let times = 0; times < 3; times++) {
      await pass(700);
      beat();
    }
    expect(await ended).toMatchObject({ status: "failed", error: { code: "STEP_TIMEOUT" } });
  });
});
