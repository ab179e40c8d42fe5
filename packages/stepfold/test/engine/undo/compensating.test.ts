import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { viaJson } from "../engine.fixture.ts";
import { VirtualEnvironment } from "../virtual-environment.fixture.ts";

let undone: unknown[] = [];
const nodeDefinitions = {
  ...builtinNodes,
  book: defineNode({ executor: (data) => ({ data }) }),
  unbook: defineNode({
    executor: (data, step) => {
      // the keys are in `undone-keys.test.ts`
      const { idempotencyKey: _, ...what } = step.compensating!;
      undone.push([step.nodeId, what]);
      return { data };
    },
  }),
  flaky: defineNode({
    retryPolicy: { maxAttempts: 3, interval: "10s", backoff: "fixed" },
    executor: (_data, step) => {
      undone.push([step.nodeId, step.attempt]);
      if (step.attempt < 3) throw new Error("not yet");
      return { data: null };
    },
  }),
  broken: defineNode({
    executor: () => {
      throw new Error("cannot be undone");
    },
  }),
};

/** A workflow in which each node of `undo` has a compensation of the given node type. */
function booking(undo: Readonly<Record<string, string>>, steps: object, edges: readonly string[], more: object = {}): object {
  const workflow = flow("trip", steps as never, edges, more) as { nodes: { id: string }[] };
  const nodes = workflow.nodes.map((node) => (undo[node.id] ? { ...node, compensate: { type: undo[node.id] } } : node));
  return { ...workflow, nodes };
}

/** Executes one step at a time, with the snapshot through JSON after each, and moves the clock to the time of the next retry. */
async function stepwise(workflow: object, clock = new VirtualEnvironment()): Promise<Snapshot> {
  undone = [];
  const engine = new WorkflowEngine({ workflow, nodeDefinitions, environment: clock });
  let snapshot = await engine.execute({ input: 1, stepLimit: 1 });
  for (let i = 0; i < 50 && ["active", "error"].includes(snapshot.status); i++) {
    clock.set(Math.max(clock.now(), snapshot.retryState?.nextRetryAt ?? 0));
    snapshot = await engine.executeStep(viaJson(snapshot));
  }
  return snapshot;
}

describe("what was done", () => {
  it("is undone when a later step fails, the newest first, each told what it undoes", async () => {
    const steps = { flight: ["book", "AF1"], hotel: ["book", "Ritz"], pay: ["fail", { message: "declined" }] };
    const end = await stepwise(booking({ flight: "unbook", hotel: "unbook" }, steps, ["flight>hotel", "hotel>pay"]));
    expect(undone).toEqual([
      ["hotel", { completed: true, output: "Ritz" }],
      ["flight", { completed: true, output: "AF1" }],
    ]);
    expect(end).toMatchObject({ status: "failed", currentNodeId: "pay", error: { message: "declined" } });
    expect(end.compensations?.map(({ nodeId }) => nodeId)).toEqual(["hotel", "flight"]);
    expect(end.context).toMatchObject({ flight: [{ output: "AF1" }], hotel: [{ output: "Ritz" }] });
  });

  it("is undone in sub-workflows and items of maps too, when they had completed", async () => {
    const inner = booking({ room: "unbook" }, { room: ["book", "{{ input }}"] }, []);
    const steps = {
      one: ["workflow", { workflow: "trip-room", input: "single" }],
      many: ["map", { workflow: "trip-room", items: ["a", "b"], concurrency: 1 }],
      pay: ["fail", { message: "declined" }],
    };
    const workflows = { "trip-room": { ...inner, id: "trip-room" } };
    const end = await stepwise(booking({}, steps, ["one>many", "many>pay"], { workflows }));
    expect(undone).toEqual(["b", "a", "single"].map((output) => ["room", { completed: true, output }]));
    expect(end).toMatchObject({ status: "failed", error: { message: "declined" } });
    expect(end).not.toHaveProperty("childStates");
  });

  it("is undone by attempts of its own, and what cannot be undone does not keep the rest from it", async () => {
    const steps = { a: ["book", 1], b: ["book", 2], c: ["book", 3], pay: ["fail", { message: "declined" }] };
    const end = await stepwise(booking({ a: "unbook", b: "broken", c: "flaky" }, steps, ["a>b", "b>c", "c>pay"]));
    expect(undone).toEqual([
      ["c", 1],
      ["c", 2],
      ["c", 3],
      ["a", { completed: true, output: 1 }],
    ]);
    expect(end).toMatchObject({ status: "parked", error: { message: "declined", notUndone: ["b"] } });
    expect(end.compensations).toMatchObject([{ nodeId: "c" }, { nodeId: "b", error: "cannot be undone" }, { nodeId: "a" }]);
  });

  it("is undone once after a cancellation, and nothing new begins meanwhile", async () => {
    const workflow = booking({ a: "unbook" }, { a: ["book", 1], ask: "approval", b: ["book", 2] }, ["a>ask", "ask>b@approved"]);
    const engine = new WorkflowEngine({ workflow, nodeDefinitions, environment: new VirtualEnvironment() });
    undone = [];
    const ending = await engine.send(await engine.execute({}), { type: "cancel", reason: "no longer wanted" });
    expect(ending).toMatchObject({ status: "active", ending: { status: "cancelled" }, activePaths: [{ undoes: { version: 2 } }] });
    for (const command of [{ type: "cancel" }, { type: "resume", payload: { approved: true } }] as const)
      await expect(engine.send(viaJson(ending), command)).rejects.toMatchObject({ name: "StepfoldError" });
    const end = await engine.execute({ snapshot: viaJson(ending) });
    expect(end).toMatchObject({ status: "cancelled", compensations: [{ nodeId: "a" }] });
    expect(undone).toHaveLength(1);
    expect(await engine.execute({ snapshot: viaJson(end) })).toEqual(end);
  });

  it("is undone although the execution has used up its steps, or its room", async () => {
    undone = [];
    const steps = { a: ["book", "x".repeat(3_000)], b: ["book", 2], c: ["book", 3] } as const;
    const workflow = booking({ a: "unbook", b: "unbook" }, steps, ["a>b", "b>c"]);
    const given = { workflow, nodeDefinitions };
    expect(await new WorkflowEngine({ ...given, limits: { steps: 2 } }).execute({})).toMatchObject({
      status: "failed",
      error: { code: "STEPS_EXCEEDED" },
    });
    expect(undone).toHaveLength(2);
    undone = [];
    const undoing = booking({ a: "copy" }, { a: steps.a, c: ["book", "y".repeat(3_000)] }, ["a>c"]);
    const copy = defineNode({ executor: (_data, step) => ({ data: step.compensating?.completed ? step.compensating.output : null }) });
    const engine = new WorkflowEngine({
      workflow: undoing,
      nodeDefinitions: { ...nodeDefinitions, copy },
      limits: { executionBytes: 5_000 },
    });
    expect(await engine.execute({})).toMatchObject({
      status: "failed",
      error: { code: "LIMIT_EXCEEDED" },
      compensations: [{ nodeId: "a", output: null }],
    });
  });

  it("stays done when the execution completes", async () => {
    undone = [];
    expect(await stepwise(booking({ a: "unbook" }, { a: ["book", 1] }, []))).toMatchObject({ status: "completed", output: 1 });
    expect(undone).toEqual([]);
  });
});

it("the output is that of the path that ended last, also when that is null and another was too late", async () => {
  const workflow = flow("late", { s: "noop", a: "noop", w: ["wait", { for: "1s" }], j: ["noop", null] }, ["s>a", "s>w", "a>j", "w>j"]) as {
    nodes: { id: string }[];
  };
  const nodes = workflow.nodes.map((node) => (node.id === "j" ? { ...node, join: 1 } : node));
  const clock = new VirtualEnvironment();
  const engine = new WorkflowEngine({ workflow: { ...workflow, nodes }, nodeDefinitions: builtinNodes, environment: clock });
  const paused = await engine.execute({ initialNodeId: "s" });
  clock.set(clock.now() + 1_000);
  expect(await engine.execute({ snapshot: viaJson(paused) })).toMatchObject({ status: "completed", output: null });
});
