import { describe, expect, it } from "vitest";
import type { StepContext } from "../../src/engine/node/step-context.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { engineOf } from "./engine.fixture.ts";

describe("B7: globals that were forgotten", () => {
  const reading = (_data: never, step: StepContext) => ({ data: (step.globals as { bank: string }).bank });

  it("are named where the node dies of it", async () => {
    const { error } = await engineOf({ a: reading }).engine.execute({});
    expect(error?.message).toMatch(/bank'\)\. The node has read "globals", and none were given$/);
  });

  it("are not named where they were given, or are not what it died of", async () => {
    const given = await engineOf({
      a: (_data: never, step: StepContext) => ({ data: (step.globals as { x: { y: 1 } }).x.y }),
    }).engine.execute({ globals: {} });
    expect(given.error?.message).not.toContain("none were given");
    const other = (thrown: Error) => (_data: never, step: StepContext) => {
      if (step.globals === undefined) throw thrown;
      return { data: 1 };
    };
    for (const thrown of [new TypeError("fetch failed"), new RangeError("undefined")])
      expect((await engineOf({ a: other(thrown) }).engine.execute({})).error?.message).toBe(thrown.message);
  });
});

describe("USE small: two definitions with one id in workflows of an engine", () => {
  const nodes = [{ id: "a", type: "noop" }];
  const engine =
    (...workflows: unknown[]) =>
    () =>
      new WorkflowEngine({ workflow: { id: "w", nodes, edges: [] }, workflows, nodeDefinitions: builtinNodes });

  it("are refused if they differ", () => {
    expect(engine({ id: "x", nodes, edges: [] }, { id: "x", nodes, edges: [], version: "2" })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: 'Option "workflows" has two definitions with the id "x"' }),
    );
    const circle: { id: string; self?: unknown } = { id: "x" };
    circle.self = circle;
    expect(engine({ id: "x" }, circle)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it("are one if they are the same", () => {
    expect(engine({ id: "x", nodes, edges: [] }, { id: "x", nodes, edges: [] }, {}, {})).not.toThrow();
  });
});
