import { describe, expect, it } from "vitest";
import { bench, flow } from "../../test/nodes/workflow.fixture.ts";
import type { Json } from "../core/values/json.ts";

describe("end", () => {
  it.each<[Json]>([
    [{ done: true }],
    [null],
    [0],
    [""],
    [[1]],
    [{ terminate: true }],
  ])("ends its path with %j, whatever edges leave it", async (output) => {
    const snapshot = await bench(flow("w", { a: ["end", { output }], b: "noop" }, ["a>b"])).engine.execute({});
    expect(snapshot.status).toBe("completed");
    expect(snapshot.output).toEqual(output);
    expect(snapshot.context.b).toBeUndefined();
  });

  it.each<[Json]>([[null], [{}], [{ terminate: false }], [{ output: "{{ input.missing }}" }]])("gives null with %j", async (data) => {
    const { engine } = bench(flow("w", { a: ["end", data] }));
    expect(await engine.execute({ input: {} })).toMatchObject({ status: "completed", output: null });
  });

  it("gives null without data, and lets other paths go on", async () => {
    const { engine } = bench(flow("w", { fork: "noop", a: "end", ask: "approval" }, ["fork>a", "fork>ask"]));
    expect(await engine.execute({})).toMatchObject({ status: "paused", context: { a: [{ output: null }] } });
  });

  it("ends all other paths where it says so, with their waits, timers and children", async () => {
    const inner = flow("inner", { ask: "approval" });
    const steps = {
      fork: "noop",
      ask: "approval",
      sleep: ["wait", { for: "1h" }],
      sub: ["workflow", { workflow: "inner" }],
      a: ["end", { output: "enough", terminate: true }],
    } as const;
    const { engine, clock } = bench(flow("w", steps, ["fork>ask", "fork>sleep", "fork>sub", "fork>a"], { workflows: { inner } }));
    const snapshot = await engine.execute({});
    expect(snapshot).toMatchObject({ status: "completed", output: "enough", activePaths: [] });
    expect(snapshot).not.toHaveProperty("childStates");
    clock.set(clock.now() + 7_200_000);
    expect(await engine.execute({ snapshot })).toBe(snapshot);
  });

  it("ends only the sub-workflow that it is in", async () => {
    const inner = flow("inner", { fork: "noop", ask: "approval", stop: ["end", { output: 7, terminate: true }] }, [
      "fork>ask",
      "fork>stop",
    ]);
    const steps = { fork: "noop", ask: "approval", sub: ["workflow", { workflow: "inner" }], next: "set" } as const;
    const { engine } = bench(
      flow("w", { ...steps, next: ["set", { got: "{{ $json }}" }] }, ["fork>ask", "fork>sub", "sub>next"], { workflows: { inner } }),
    );
    const snapshot = await engine.execute({});
    expect(snapshot).toMatchObject({
      status: "paused",
      activePaths: [{ nodeId: "ask" }],
      context: { sub: [{ output: 7 }], next: [{ output: { got: 7 } }] },
    });
  });

  it("ends only the item of a map that it is in", async () => {
    const inner = flow(
      "inner",
      {
        fork: "noop",
        ask: "approval",
        first: ["if", { condition: "{{ input == 0 }}" }],
        stop: ["end", { output: "{{ input }}", terminate: true }],
      },
      ["fork>ask", "fork>first", "first>stop@true"],
    );
    const { engine } = bench(flow("w", { m: ["map", { workflow: "inner", items: [0, 1] }] }, [], { workflows: { inner } }));
    const paused = await engine.execute({});
    expect(paused).toMatchObject({ status: "paused", childStates: { "0#1/0": { status: "completed", output: 0 } } });
    const ended = await engine.execute({ snapshot: paused, target: "m[1]/ask", externalPayload: { approved: true } });
    expect(ended).toMatchObject({ status: "completed", output: [0, { approved: true }] });
  });

  it("fails with hostile data out of an expression", async () => {
    const { engine } = bench(flow("w", { a: ["end", "{{ input }}"] }));
    expect(await engine.execute({ input: { terminate: "yes" } })).toMatchObject({ status: "failed", error: { code: "DATA_INVALID" } });
    expect(await engine.execute({ input: { output: { constructor: 1 } } })).toMatchObject({ output: { constructor: 1 } });
  });
});
