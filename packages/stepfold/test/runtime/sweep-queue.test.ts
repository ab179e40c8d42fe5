import { afterEach, describe, expect, it } from "vitest";
import type { WakeUp } from "../../src/ports/work-queue.ts";
import { memoryQueue } from "../../src/queues/memory/memory-queue.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { calls, closeAll, hour, line, nodeDefinitions, second } from "./runtime.fixture.ts";
import { keepingQueue, minute, serverless, slowSteps, swept } from "./sweep.fixture.ts";

afterEach(closeAll);

describe("a sweep with a queue", () => {
  it("leaves to the queue what it has just been told of, and takes what it has missed for half a second", async () => {
    const environment = virtualEnvironment();
    const { queue } = keepingQueue();
    const { runtime } = serverless(environment, { queue });
    await runtime.start("talk", { workflowId: "a" });
    expect(await swept(environment, 0, runtime.sweep())).toMatchObject({ advanced: 0, isMore: false });
    await environment.advance(0.5 * second);
    expect(await swept(environment, 0, runtime.sweep())).toMatchObject({ advanced: 1 });
  });

  it("advances what messages name, each once, and nothing else", async () => {
    const environment = virtualEnvironment();
    const { queue, ids } = keepingQueue();
    const { runtime, store } = serverless(environment, { queue });
    for (const workflowId of ["a", "b", "c"]) await runtime.start("talk", { workflowId });
    await environment.advance(minute);
    const wakeUps = ["a", "gone", "b", "a"].map((workflowId) => ({ workflowId }));
    expect(await swept(environment, 0, runtime.sweep({ wakeUps }))).toEqual({ advanced: 2, left: [], failed: [], isMore: false });
    expect(calls).toHaveLength(2);
    expect(await store.load("c")).toMatchObject({ version: 0 });
    expect(ids()).toEqual(["a", "b", "c"]);
    expect(await swept(environment, 0, runtime.sweep({ wakeUps }))).toMatchObject({ advanced: 0, left: [] });
  });

  it("sends on a message that came before its time", async () => {
    const environment = virtualEnvironment();
    const { queue, sent } = keepingQueue();
    const { runtime } = serverless(environment, { queue });
    const report = await swept(environment, 0, runtime.sweep({ wakeUps: [{ workflowId: "a", delayMs: hour }] }));
    expect(report).toEqual({ advanced: 0, left: [{ workflowId: "a", isAnnounced: true }], failed: [], isMore: false });
    expect(sent).toEqual([{ workflowId: "a", delayMs: hour }]);
  });

  it("sends a message on for at most 12 hours, and takes what is no delay for none", async () => {
    const environment = virtualEnvironment();
    const { queue, sent } = keepingQueue();
    const { runtime } = serverless(environment, { queue });
    const delays = [9e15, 1e308, Number.POSITIVE_INFINITY, Number.NaN, -1e308, "1e308", null];
    const wakeUps = delays.map((delayMs, nth) => ({ workflowId: `gone-${nth}`, delayMs })) as WakeUp[];
    const report = await swept(environment, 0, runtime.sweep({ wakeUps }));
    expect(sent).toEqual([0, 1, 2].map((nth) => ({ workflowId: `gone-${nth}`, delayMs: 12 * hour })));
    expect(report).toMatchObject({ advanced: 0, failed: [], isMore: false });
  });

  it.each([
    [{}],
    [null],
    [{ workflowId: "" }],
    [{ workflowId: "a\u0000" }],
    [{ workflowId: "x".repeat(256) }],
    "a",
  ])("is refused where a message names no execution, and claims none: %j", async (wakeUps) => {
    const environment = virtualEnvironment();
    const { runtime } = serverless(environment, { queue: keepingQueue().queue });
    await expect(runtime.sweep({ wakeUps: wakeUps as never })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  it("sends on what it did not finish, and what it did not reach", async () => {
    const environment = virtualEnvironment();
    const { nodes } = slowSteps(environment);
    const { queue, sent, ids } = keepingQueue();
    const workflows = [line("long", "slow", "slow", "slow", "slow", "slow", "slow")];
    const { runtime } = serverless(environment, { queue, nodeDefinitions: nodes, workflows });
    for (const workflowId of ["a", "b", "c"]) await runtime.start("long", { workflowId });
    sent.splice(0);
    const wakeUps = ["a", "b", "c"].map((workflowId) => ({ workflowId }));
    const report = await swept(environment, 10 * second, runtime.sweep({ wakeUps, concurrency: 2 }));
    expect(report.left.map(({ workflowId, isAnnounced }) => [workflowId, isAnnounced]).sort()).toEqual([
      ["a", true],
      ["b", true],
      ["c", true],
    ]);
    expect(ids().sort()).toEqual(["a", "b", "c"]);
    sent.splice(0);
    const poked = await swept(environment, 10 * second, runtime.sweep({ limit: 1 }));
    expect(poked).toMatchObject({ advanced: 1, isMore: false });
    expect(ids()).toHaveLength(3);
    expect(new Set(ids())).toEqual(new Set(["a", "b", "c"]));
    expect(poked.left.map(({ isAnnounced }) => isAnnounced)).toEqual([true, true, true]);
  });

  it("says what could not be sent on, so that its message comes again", async () => {
    const environment = virtualEnvironment();
    const { nodes } = slowSteps(environment);
    const { queue } = keepingQueue({ send: () => Promise.reject(new Error("away")) });
    const { runtime } = serverless(environment, { queue, nodeDefinitions: nodes, workflows: [line("deaf", "deaf")] });
    await runtime.start("deaf", { workflowId: "a" });
    const wakeUps = [{ workflowId: "a" }, { workflowId: "b", delayMs: second }];
    const { left } = await swept(environment, 10 * second, runtime.sweep({ wakeUps }));
    expect(left.map(({ workflowId, isAnnounced }) => [workflowId, isAnnounced]).sort()).toEqual([
      ["a", false],
      ["b", false],
    ]);
  });

  it("goes on with those that waited for the permit of what it has run, or sends them on", async () => {
    const environment = virtualEnvironment();
    const { queue, sent, ids } = keepingQueue();
    const { nodes } = slowSteps(environment);
    const one = { ...line("one", "slow", "slow"), concurrency: { key: "k", limit: 1 } };
    const { runtime, store } = serverless(environment, { queue, nodeDefinitions: nodes, workflows: [one] });
    for (const workflowId of ["a", "b", "c"]) await runtime.start("one", { workflowId });
    sent.splice(0);
    const report = await swept(environment, 10 * second, runtime.sweep({ wakeUps: [{ workflowId: "a" }] }));
    expect(report).toMatchObject({ advanced: 2, left: [{ workflowId: "c", isAnnounced: true }] });
    expect(ids()).toEqual(["c"]);
    expect((await store.list()).items.map(({ workflowId, status, lease }) => [workflowId, status, lease])).toEqual([
      ["c", "active", null],
      ["b", "completed", null],
      ["a", "completed", null],
    ]);
  });

  it("lets children and parents tell each other through the queue", async () => {
    const environment = virtualEnvironment();
    const { builtinNodes } = await import("../../src/nodes/index.ts");
    const parent = { id: "parent", nodes: [{ id: "child", type: "workflow", data: { workflow: "talk", detached: true } }], edges: [] };
    const inner = memoryQueue({ environment });
    const more = { nodeDefinitions: { ...builtinNodes, ...nodeDefinitions }, workflows: [parent, line("talk", "say")], queue: inner };
    const { runtime } = serverless(environment, more);
    // the test calls the function for each message, as a platform does
    await inner.consume(async ({ workflowId }) => void (await runtime.sweep({ wakeUps: [{ workflowId }] })), {
      concurrency: 4,
      leaseMs: 30 * second,
      onProblem: (error) => expect.unreachable(String(error)),
    });
    const run = await runtime.start("parent");
    await environment.settle();
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
  });
});
