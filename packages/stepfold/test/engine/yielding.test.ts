import { describe, expect, it } from "vitest";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { systemEnvironment } from "../../src/environment/system-environment.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { circle } from "../limits/circle.fixture.ts";

describe("F3: an execution that never waits", () => {
  it("lets timers run, and ends with its signal", async () => {
    const engine = new WorkflowEngine({ workflow: circle, nodeDefinitions: builtinNodes });
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 5);
    const { status, steps } = await engine.execute({ signal: AbortSignal.timeout(50) });
    clearInterval(ticking);
    expect(status).toBe("active");
    expect(steps).toBeLessThan(100_000);
    expect(ticks).toBeGreaterThan(0);
  });

  it("lets timers run although the clock it is given stands still", async () => {
    const environment = { ...systemEnvironment, now: () => 5 };
    const engine = new WorkflowEngine({ workflow: circle, nodeDefinitions: builtinNodes, environment });
    const { status } = await engine.execute({ signal: AbortSignal.timeout(100) });
    expect(status).toBe("active");
  });

  it("is cancelled in a runtime", async () => {
    const store = memoryStore();
    const runtime = createRuntime({ store, workflows: [circle], nodeDefinitions: builtinNodes });
    const run = await runtime.start("circle", { workflowId: "round" });
    await run.cancel();
    const { status, steps } = (await store.load("round"))!;
    expect(status).toBe("cancelled");
    expect(steps).toBeLessThan(100_000);
    await runtime.close();
  });
});
