import { afterEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { numberOfStep } from "../../src/core/transition/code/code-path.ts";
import { defineDurable } from "../../src/durable/define-durable.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { checkWorkflow } from "../../src/engine/workflow/prepared-workflow.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { closeAll } from "../runtime/runtime.fixture.ts";
import { quiet, started } from "./durable.fixture.ts";

afterEach(closeAll);

const kept = (snapshot: Snapshot): Snapshot => JSON.parse(JSON.stringify(snapshot)) as Snapshot;

/** Pays twice, asks, and fails: both payments are undone. */
function saga(undone: unknown[]) {
  return defineDurable({
    id: "saga",
    nodes: { refund: defineNode({ executor: (data, { compensating }) => ({ data: undone.push([data, compensating?.completed]) }) }) },
    waits: { go: true },
    async run({ step }) {
      await step.run("pay", { undo: { type: "refund", data: 1 } }, () => "R1");
      await step.run("pay", { undo: { type: "refund" } }, () => "R2");
      await step.waitFor("go");
      throw new Error("no");
    },
  });
}

describe("a snapshot of durable code", () => {
  it("goes on from JSON at every step, also while its steps are undone", async () => {
    const undone: unknown[] = [];
    const engine = new WorkflowEngine({ workflow: saga(undone) });
    let snapshot = await engine.execute({ stepLimit: 1 });
    for (let i = 0; i < 20 && snapshot.status !== "failed"; i++) {
      const asks = snapshot.status === "paused";
      snapshot = await engine.execute({ snapshot: kept(snapshot), stepLimit: 1, ...(asks && { externalPayload: null }) });
    }
    expect(snapshot.status).toBe("failed");
    expect(undone).toEqual([
      [null, true],
      [1, true],
    ]);
    expect(kept(snapshot).compensations).toHaveLength(2);
  });

  it("goes on from JSON with a step that had begun, and with one in a child", async () => {
    const undone: unknown[] = [];
    const inner = saga(undone);
    const outer = defineDurable({
      id: "outer",
      workflows: [inner],
      nodes: inner.nodes,
      waits: { end: true },
      async run({ step }) {
        const paying = step.run(
          "hang",
          { undo: { type: "refund", data: "hang" } },
          ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted")))),
        );
        await step.call("inner", inner as never, null as never).catch(() => undefined);
        await Promise.race([paying, step.waitFor("end")]);
        throw new Error("over");
      },
    });
    const { run, environment } = await started(outer);
    await run.resume({ step: "inner/go", payload: null });
    await quiet(environment, run);
    const fork = await run.fork({ workflowId: "fork" });
    await quiet(environment, fork);
    const snapshot = await run.snapshot();
    const engine = new WorkflowEngine({ workflow: outer });
    const after = await engine.send(kept(snapshot), { type: "cancel" });
    expect(after.ending?.begun).toMatchObject([{ nodeId: "hang", undo: { type: "refund", data: "hang" } }]);
    const ended = await engine.execute({ snapshot: kept(after) });
    expect([ended.status, undone.at(-1)]).toEqual(["cancelled", ["hang", false]]);
    await fork.cancel();
    await quiet(environment, fork);
    expect((await fork.snapshot()).from).toMatchObject({ replay: { at: expect.any(Number) } });
    expect(await engine.send(kept({ ...(await run.snapshot()), from: (await fork.snapshot()).from! }), { type: "cancel" })).toMatchObject({
      from: { workflowId: "one" },
    });
  });

  it.each<[string, (snapshot: Record<string, never>) => void, string]>([
    ["a path", (s) => Object.assign((s.activePaths as unknown as object[])[1]!, { undo: 5 }), "/activePaths/1/undo"],
    [
      "a result",
      (s) => Object.assign((s.context as unknown as { pay: object[] }).pay[0]!, { undo: { type: "" } }),
      "/context/pay/0/undo/type",
    ],
    [
      "a wait",
      (s) => Object.assign((s.activePaths as unknown as { waits: object[] }[])[1]!.waits[0]!, { yields: 1 }),
      "/activePaths/1/waits/0/yields",
    ],
    ["a begun step", (s) => Object.assign(s, { begun: [{ pathId: "0.1", nodeId: "pay", undo: {} }] }), "/begun/0/undo/type"],
    [
      "an origin",
      (s) => Object.assign(s, { from: { workflowId: "x", version: 1, reason: "fork", replay: { seed: 1, at: 0 } } }),
      "/from/replay/seed",
    ],
    [
      "an origin's time",
      (s) => Object.assign(s, { from: { workflowId: "x", version: 1, reason: "fork", replay: { seed: "s" } } }),
      "/from/replay/at",
    ],
    [
      "what was undone",
      (s) =>
        Object.assign(s, {
          compensations: [{ nodeId: "pay", undoes: { pathId: "0.1", undo: [] }, timestamp: 0, attempt: 1, version: 1, output: null }],
        }),
      "/compensations/0/undoes/undo",
    ],
  ])("is refused if %s is wrong", async (_what, change, pointer) => {
    const engine = new WorkflowEngine({ workflow: saga([]) });
    const snapshot = kept(await engine.execute({})) as unknown as Record<string, never>;
    change(snapshot);
    await expect(engine.execute({ snapshot })).rejects.toMatchObject({ code: "SNAPSHOT_INVALID", details: { pointer } });
  });

  it("is refused if a step of a graph rests like code, or is undone without saying how", async () => {
    const engine = new WorkflowEngine({ workflow: saga([]) });
    const snapshot = kept(await engine.execute({})) as unknown as { activePaths: object[]; begun?: unknown };
    snapshot.begun = [{ pathId: "0.1", nodeId: "pay" }];
    await expect(engine.execute({ snapshot })).rejects.toMatchObject({ code: "DEFINITION_CHANGED" });
    const graph = new WorkflowEngine({
      workflow: { id: "g", nodes: [{ id: "n", type: "ask" }], edges: [] },
      nodeDefinitions: { ask: defineNode({ executor: (_data, step) => step.suspend() }) },
    });
    const resting = kept(await graph.execute({}));
    const paths = resting.activePaths.map(({ waits: _, ...path }) => path);
    await expect(graph.execute({ snapshot: { ...resting, activePaths: paths } })).rejects.toMatchObject({
      details: { pointer: "/activePaths/0/waits" },
    });
  });
});

describe("a step that has failed for good and can be undone", () => {
  it("is known from JSON, and is undone at the end although its code has caught the error", async () => {
    const undone: unknown[] = [];
    const workflow = defineDurable({
      id: "caught",
      nodes: { refund: defineNode({ executor: (data) => ({ data: undone.push(data) }) }) },
      waits: { go: true },
      async run({ step }) {
        await step.run("pay", { undo: { type: "refund", data: "maybe" } }, () => Promise.reject(new Error("no answer"))).catch(() => null);
        await step.waitFor("go");
        throw new Error("over");
      },
    });
    const engine = new WorkflowEngine({ workflow });
    const asked = kept(await engine.execute({}));
    expect(asked.begun).toMatchObject([{ nodeId: "pay", undo: { type: "refund", data: "maybe" } }]);
    const ended = await engine.execute({ snapshot: asked, externalPayload: null });
    expect([ended.status, undone]).toEqual(["failed", ["maybe"]]);
  });
});

describe("the definition of durable code", () => {
  it("is told all its mistakes, also without a node", () => {
    const codes = (nodes: unknown): string[] => checkWorkflow({ id: "w", code: true, nodes, edges: [] }, {}).map(({ code }) => code);
    expect(codes([5])).toContain("TYPE");
    expect(codes([])).toContain("REQUIRED");
  });
});

describe("the path of a step", () => {
  it("has the number of the asking after the path of its code", () => {
    expect(["0.1", "0.12", "0", "0.1.2", "1.1", "0.x", "0.01"].map((id) => numberOfStep("0", id))).toEqual([
      1,
      12,
      null,
      null,
      null,
      null,
      null,
    ]);
  });
});
