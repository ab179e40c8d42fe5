import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { calls, closeAll, hour, line, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const begins = Date.UTC(2026, 0, 1);
let undone: string[] = [];
let stops: unknown[] = [];
const nodes = {
  ...nodeDefinitions,
  ...builtinNodes,
  refund: defineNode({
    executor: (_data, step) => {
      undone.push(step.nodeId);
      return { data: null };
    },
  }),
  slow: defineNode({
    executor: (_data, step) =>
      new Promise((_, reject) => {
        step.signal.addEventListener("abort", () => {
          stops.push(step.signal.reason);
          reject(step.signal.reason);
        });
      }),
  }),
  /** A node that goes on as a new execution at each signal "again". */
  again: defineNode({ executor: (_data, step) => (step.resumed ? { continueAs: {} } : step.suspend(null, { signal: "again" })) }),
};
const talk = { ...line("talk", "say", "ask", "say"), timeout: "2h" };
const order = {
  id: "order",
  timeout: "1h",
  nodes: [
    { id: "pay", type: "say", compensate: { type: "refund" } },
    { id: "ask", type: "ask" },
  ],
  edges: [{ source: "pay", target: "ask" }],
};
const parent = {
  id: "parent",
  nodes: [
    { id: "child", type: "workflow", data: { workflow: "talk", detached: true } },
    { id: "after", type: "say", data: "{{ nodes.child.last.data.code }}" },
  ],
  edges: [{ source: "child", target: "after", sourceHandle: "error" }],
};
const around = {
  id: "around",
  nodes: [{ id: "whole", type: "workflow", data: { workflow: "inner" } }],
  edges: [],
  workflows: { inner: { id: "inner", timeout: "1h", nodes: [{ id: "ask", type: "ask" }], edges: [] } },
};
const workflows = [
  ...[talk, order, parent, around],
  { ...parent, id: "hasty", timeout: "1h" },
  { ...line("slow", "slow"), timeout: "5m" },
  { ...line("free", "ask") },
  { ...line("cycle", "again"), timeout: "10h" },
  { ...line("odd", "say"), timeout: "{{ input }}" },
  {
    ...parent,
    id: "oddly",
    nodes: [{ id: "child", type: "workflow", data: { workflow: "odd", detached: true, input: "soon" } }, parent.nodes[1]],
  },
] as never;

beforeEach(() => {
  [undone, stops] = [[], []];
});

const living = (more: object = {}, environment?: Parameters<typeof setUp>[1]): ReturnType<typeof setUp> =>
  setUp({ nodeDefinitions: nodes as never, workflows, ...more }, environment);
const endOf = (run: Run): Promise<unknown> => run.result().catch((error: { details: object }) => error.details);
const deadlineOf = async (run: Run): Promise<number> => (await run.snapshot()).deadlineAt! - begins;

describe("an execution with a deadline", () => {
  it("is due at it, fails then, and says so", async () => {
    const { runtime, environment, store } = living();
    const run = await runtime.start("talk", { workflowId: "t" });
    await environment.settle();
    expect((await store.list()).items[0]).toMatchObject({ wakeAt: begins + 2 * hour, deadlineAt: begins + 2 * hour });
    expect((await run.explain()).sentence).toContain("It fails if it has not ended by 2026-01-01T02:00:00.000Z.");
    await environment.advance(2 * hour - second);
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
    await environment.advance(2 * second);
    expect(await endOf(run)).toMatchObject({
      ...{ code: "EXECUTION_TIMED_OUT", nodeId: "ask1" },
      message: 'Execution "t" had to end by 2026-01-01T02:00:00.000Z',
    });
    expect((await store.events("t", -1, 10)).at(-1)?.event).toMatchObject({ type: "expired" });
    await expect(run.resume({ payload: { approved: true } })).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  it("that passes while nobody runs is applied before anything else is begun", async () => {
    const { runtime, environment, store } = living({ drive: false });
    await runtime.start("talk", { workflowId: "t" });
    await runtime.start("talk", { workflowId: "u", deadline: "2026-01-01T04:00:00Z", timeout: "9h" });
    await runtime.close();
    await environment.advance(3 * hour);
    living({ store }, environment);
    await environment.advance(second);
    expect(await store.load("t")).toMatchObject({ status: "failed", version: 1, steps: 0 });
    expect(await store.load("u")).toMatchObject({ status: "failed", deadlineAt: begins + 2 * hour });
    expect(calls).toEqual([]);
  });

  it("aborts the step that runs", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("slow");
    await environment.advance(299 * second);
    expect(stops).toEqual([]);
    await environment.advance(2 * second);
    expect(await endOf(run)).toMatchObject({ code: "EXECUTION_TIMED_OUT" });
    expect(stops).toHaveLength(1);
  });

  it("has what it did undone", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("order");
    await environment.advance(hour + second);
    expect(await endOf(run)).toMatchObject({ code: "EXECUTION_TIMED_OUT" });
    expect(undone).toEqual(["pay"]);
  });

  it("counts from startAt, and a deadline before that is refused", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("talk", { startAt: begins + 5 * hour, timeout: "1h" });
    expect(await deadlineOf(run)).toBe(6 * hour);
    await environment.advance(5.5 * hour);
    expect(await run.snapshot()).toMatchObject({ status: "paused", currentNodeId: "ask1" });
    await environment.advance(hour);
    expect(await endOf(run)).toMatchObject({ code: "EXECUTION_TIMED_OUT" });
    const early = runtime.start("talk", { startAt: begins + 50 * hour, deadline: begins + 50 * hour });
    await expect(early).rejects.toMatchObject({ code: "OPTION_INVALID", message: 'Option "deadline" must be later than startAt' });
  });

  it("stays as it was if the same is started again", async () => {
    const { runtime, environment } = living();
    await runtime.start("talk", { workflowId: "t", timeout: "1h" });
    const again = await runtime.start("talk", { workflowId: "t", timeout: "30m" });
    expect(await deadlineOf(again)).toBe(hour);
    await environment.advance(99 * hour);
    expect(await (await runtime.start("talk", { workflowId: "t", deadline: begins })).snapshot()).toMatchObject({ status: "failed" });
  });

  it("does not keep `settled` waiting: it is for something from outside that the execution waits", async () => {
    const { runtime } = living();
    expect(await (await runtime.start("talk")).settled()).toMatchObject({ status: "paused" });
  });
});

describe("a detached execution with a deadline", () => {
  it("fails the node that waits for it", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("parent");
    await environment.advance(2 * hour + second);
    expect(await run.result()).toBe("EXECUTION_TIMED_OUT");
  });

  it("is cancelled when the one that waits for it is not done in time", async () => {
    const { runtime, environment, store } = living();
    const run = await runtime.start("hasty");
    await environment.advance(hour + second);
    expect(await endOf(run)).toMatchObject({ code: "EXECUTION_TIMED_OUT", nodeId: "child" });
    const { items } = await store.list({ definitionId: "talk" });
    expect(items).toMatchObject([{ status: "cancelled" }]);
  });

  it("whose timeout is none fails the node, and the execution is not stuck", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("oddly");
    await environment.advance(second);
    expect(await run.result()).toBe("DURATION_INVALID");
    await expect(runtime.start("odd", { input: "soon" })).rejects.toMatchObject({ code: "DURATION_INVALID" });
  });
});

describe("what goes on from an execution with a deadline", () => {
  it("by a restart has its whole time again, what its start had said too", async () => {
    const { runtime, environment } = living();
    const [byWorkflow, given] = [await runtime.start("talk"), await runtime.start("talk", { timeout: "30m" })];
    await environment.advance(3 * hour);
    const now = environment.now() - begins;
    await byWorkflow.restart();
    expect(await deadlineOf(byWorkflow)).toBe(now + 2 * hour);
    await given.restart();
    expect(await deadlineOf(given)).toBe(now + hour / 2);
    await environment.settle();
    await given.resume({ payload: { approved: true } });
    expect(await given.result()).toEqual({ text: "say" });
  });

  it("by a restart keeps a date that was given and has not passed", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("talk", { timeout: "90m" });
    await environment.advance(hour);
    await run.cancel();
    await environment.advance(second);
    await run.restart();
    expect(await deadlineOf(run)).toBe(1.5 * hour);
  });

  it("by continueAs keeps a date that was given, also while the time of the workflow is shorter", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("cycle", { workflowId: "g", timeout: "25h" });
    for (let times = 1; times <= 2; times++) {
      expect(await deadlineOf(run)).toBe((times * 9 + 1) * hour);
      await environment.advance(9 * hour);
      await run.signal("again");
      await environment.settle();
    }
    expect(await deadlineOf(run)).toBe(25 * hour);
    await environment.advance(7 * hour + second);
    expect(await endOf(run)).toMatchObject({ code: "EXECUTION_TIMED_OUT" });
  });

  it("by a restart has its whole given time again once that has passed, also in a later run and after a restart that kept it", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("cycle", { workflowId: "g", timeout: "5h" });
    await environment.advance(2 * hour);
    await run.signal("again");
    await environment.advance(4 * hour);
    for (let times = 1; times <= 2; times++) {
      expect(await endOf(run)).toMatchObject({ code: "EXECUTION_TIMED_OUT" });
      await run.restart();
      const by = environment.now() - begins + 5 * hour;
      expect(await deadlineOf(run)).toBe(by);
      await environment.advance(hour);
      await run.cancel();
      await run.restart();
      expect(await deadlineOf(run)).toBe(by);
      await environment.advance(5 * hour);
    }
  });

  it("by a restart or fork may be told another time", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("talk", { timeout: "30m" });
    await environment.advance(hour);
    const now = environment.now() - begins;
    await run.restart({ timeout: "90m" });
    expect(await deadlineOf(run)).toBe(now + 1.5 * hour);
    expect(await deadlineOf(await run.fork({ version: 0, deadline: "2026-01-01T02:30:00Z" }))).toBe(2.5 * hour);
    expect(await deadlineOf(await run.fork({ version: 0, timeout: "5h" }))).toBe(now + 2 * hour);
    await expect(run.fork({ version: 0, timeout: "soon" })).rejects.toMatchObject({ code: "DURATION_INVALID" });
  });

  it("with another definition has the time of that", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("talk");
    await environment.advance(3 * hour);
    const patient = { ...talk, timeout: "9h" };
    await run.restart({ definition: patient as never });
    expect(await deadlineOf(run)).toBe(environment.now() - begins + 9 * hour);
  });

  it("by a restart has the time of its sub-workflow again, if that was over", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("around");
    await environment.advance(3 * hour);
    expect(await endOf(run)).toMatchObject({ code: "EXECUTION_TIMED_OUT", nodeId: "whole" });
    await run.restart();
    await environment.settle();
    expect(Object.values((await run.snapshot()).childStates!)).toMatchObject([{ deadlineAt: environment.now() + hour }]);
    await run.resume({ payload: { approved: true } });
    expect(await run.result()).toEqual({ approved: true });
  });

  it("by a fork leaves its sub-workflow the time that was left to it", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("around");
    await environment.advance(hour / 2);
    await run.cancel();
    await environment.advance(hour);
    const fork = await run.fork({ version: 2 });
    expect(Object.values((await fork.snapshot()).childStates!)).toMatchObject([{ deadlineAt: environment.now() + hour / 2 }]);
  });

  it("by adoption keeps its deadline as a date", async () => {
    const { runtime, environment } = living();
    const engine = new WorkflowEngine({ workflow: line("free", "ask"), nodeDefinitions: nodes, environment });
    const snapshot = await engine.execute({ workflowId: "f", timeout: "2h" });
    await environment.advance(hour);
    const run = await runtime.adopt("free", snapshot);
    expect(await deadlineOf(run)).toBe(2 * hour);
    await environment.advance(hour + second);
    expect(await endOf(run)).toMatchObject({ code: "EXECUTION_TIMED_OUT" });
  });

  it("by continueAs has the time of its workflow again, and what the start had said stays the date that it was", async () => {
    const { runtime, environment } = living();
    const [byWorkflow, given] = [
      await runtime.start("cycle", { workflowId: "w" }),
      await runtime.start("cycle", { workflowId: "g", timeout: "4h" }),
    ];
    for (let hours = 1; hours <= 3; hours++) {
      await environment.advance(hour);
      for (const run of [byWorkflow, given]) await run.signal("again");
      await environment.settle();
    }
    const now = environment.now() - begins;
    expect(await deadlineOf(await runtime.get("w"))).toBe(now + 10 * hour);
    expect(await deadlineOf(given)).toBe(4 * hour);
    await environment.advance(hour + second);
    expect(await endOf(given)).toMatchObject({ code: "EXECUTION_TIMED_OUT" });
  });
});
