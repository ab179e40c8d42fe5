import { describe, expect, it } from "vitest";
import type { StepContext } from "../../src/engine/node/step-context.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { asking, type Coded, deferred, engineOf, giving } from "./engine.fixture.ts";
import { settled, VirtualEnvironment } from "./virtual-environment.fixture.ts";

/** An engine whose fork leads to the step `slow`, which runs until the test opens its gate, and to the node `other`. */
function besideSlow(other: Coded, part: object = {}, edges: readonly string[] = []) {
  const gate = deferred<void>();
  const slow = async () => {
    await gate.promise;
    return { data: "slow" };
  };
  const told: string[] = [];
  const after = (data: never) => {
    told.push(String(data));
    return { data };
  };
  const code = { go: giving(1), slow, other, late: after };
  const made = engineOf(code, ["go>slow", "go>other", ...edges], {
    parts: { other: part, late: { data: "late" } },
    rest: { start: "go" },
  });
  return { ...made, gate, told };
}

describe("AUDIT 4: while a step of another path runs", () => {
  it("a retry is made when its time has come", async () => {
    const attempts: number[] = [];
    const flaky = (_data: never, { attempt }: StepContext) => {
      attempts.push(attempt);
      if (attempt < 3) throw new Error("busy");
      return { data: "done" };
    };
    const { engine, clock, gate } = besideSlow(flaky, { retryPolicy: { maxAttempts: 3, interval: "500ms", backoff: "fixed" } });
    const running = engine.execute({});
    await settled();
    expect(attempts).toEqual([1]);
    await clock.advance(500);
    expect(attempts).toEqual([1, 2]);
    await clock.advance(500);
    expect(attempts).toEqual([1, 2, 3]);
    gate.resolve();
    const { status, context } = await running;
    expect([status, context.other?.map(({ output }) => output)]).toEqual(["completed", [null, null, "done"]]);
    // the timer of deadlines ends with the call, so that it does not keep the process alive
    expect(clock.armed).toBe(0);
  });

  it("a timer resumes its path", async () => {
    const { engine, clock, gate, told } = besideSlow(asking(null, { resumeAt: 1_000_700 }), {}, ["other>late"]);
    const running = engine.execute({});
    await clock.advance(699);
    expect(told).toEqual([]);
    await clock.advance(1);
    expect(told).toEqual(["late"]);
    gate.resolve();
    expect((await running).status).toBe("completed");
  });

  it("a wait that was not answered in time leaves by its edge", async () => {
    const { engine, clock, gate, told } = besideSlow(asking(null, { timeout: "2s" }), {}, ["other>late@timeout"]);
    const running = engine.execute({});
    await clock.advance(2_000);
    expect(told).toEqual(["late"]);
    gate.resolve();
    expect((await running).status).toBe("completed");
  });

  it("an item of a map is not held up by the others", async () => {
    const gate = deferred<void>();
    const attempts: string[] = [];
    const work = async (_data: unknown, step: StepContext) => {
      attempts.push(`${String(step.input)} ${step.attempt}`);
      if (step.input === "slow") await gate.promise;
      else if (step.attempt === 1) throw new Error("busy");
      return { data: step.input };
    };
    const item = {
      id: "item",
      nodes: [{ id: "work", type: "work-type", retryPolicy: { maxAttempts: 2, interval: "1s", backoff: "fixed" } }],
      edges: [],
    };
    const clock = new VirtualEnvironment();
    const workflow = {
      id: "flow",
      nodes: [{ id: "all", type: "map", data: { workflow: "item", items: ["slow", "quick"] } }],
      edges: [],
      workflows: { item },
    };
    const nodeDefinitions = { ...builtinNodes, "work-type": { executor: work } };
    const engine = new WorkflowEngine({ workflow, nodeDefinitions, environment: clock });
    const running = engine.execute({});
    await clock.advance(1_000);
    expect(attempts).toEqual(["slow 1", "quick 1", "quick 2"]);
    gate.resolve();
    expect((await running).output).toEqual(["slow", "quick"]);
  });

  it("no timer is armed where no path waits for a time", async () => {
    const { engine, clock, gate } = besideSlow(giving(2), {});
    const running = engine.execute({});
    await settled();
    // the only timer is the one for the deadline of the step, set once more in the foreground
    expect([clock.timersMade, clock.armed]).toEqual([2, 1]);
    gate.resolve();
    await running;
    expect(clock.armed).toBe(0);
  });

  it("calls that end before the event loop goes round share the timer of the first deadline", async () => {
    const { engine, clock } = engineOf({ a: async () => ({ data: 1 }) }, []);
    for (let calls = 0; calls < 20; calls++) expect((await engine.execute({})).status).toBe("completed");
    expect(clock.timersMade).toBe(1);
  });
});
