import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { calls, closeAll, dying, line, nodeDefinitions, second, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

describe("a process that dies", () => {
  it("is replaced after its lease, and only the step that was in flight is performed again", async () => {
    const { environment } = setUp();
    const store = memoryStore({ now: () => environment.now() });
    const first = dying(environment);
    let reached = 0;
    const definitions = {
      ...nodeDefinitions,
      stuck: defineNode({ executor: async () => (++reached === 1 ? new Promise<never>(() => undefined) : { data: "recovered" }) }),
    };
    const doomed = setUp({ store, environment: first.environment, nodeDefinitions: definitions, leaseMs: 5 * second }, environment);
    await doomed.runtime.start("hang", { workflowId: "x" });
    await environment.settle();
    first.die();
    const next = setUp({ store, nodeDefinitions: definitions, leaseMs: 5 * second }, environment);
    await environment.advance(4 * second);
    expect(reached).toBe(1);
    await environment.advance(3 * second);
    expect(await (await next.runtime.get("x")).result()).toBe("recovered");
    expect((await store.events("x", -1, 10)).map(({ event }) => event.type)).toEqual(["started", "completed", "completed"]);
  });

  it("changes nothing when it wakes up late", async () => {
    const { environment } = setUp();
    const store = memoryStore({ now: () => environment.now() });
    const stalled = dying(environment);
    const finish: ((result: { data: string }) => void)[] = [];
    const definitions = {
      ...nodeDefinitions,
      stuck: defineNode({ executor: () => new Promise<{ data: string }>((resolve) => finish.push(resolve)) }),
    };
    const workflows = [line("late", "stuck", "say")];
    const problems: unknown[] = [];
    const onProblem = (_: string | null, error: unknown): unknown => problems.push(error);
    const first = setUp(
      { store, environment: stalled.environment, nodeDefinitions: definitions, workflows, leaseMs: 5 * second, onProblem },
      environment,
    );
    await first.runtime.start("late", { workflowId: "x" });
    await environment.settle();
    stalled.die();
    const next = setUp({ store, nodeDefinitions: definitions, workflows, leaseMs: 5 * second }, environment);
    await environment.advance(7 * second);
    expect(finish).toHaveLength(2);
    finish[0]?.({ data: "from the past" });
    await environment.settle();
    finish[1]?.({ data: "present" });
    await environment.settle();
    const run = await next.runtime.get("x");
    expect(await run.result()).toEqual({ text: "say" });
    expect((await run.snapshot()).context.stuck0).toMatchObject([{ output: "present" }]);
    expect(problems).toEqual([]);
  });

  it("keeps its executions while it shows signs of life, however long a step takes", async () => {
    const { runtime, environment, store } = setUp({ leaseMs: 5 * second });
    await runtime.start("hang", { workflowId: "x" });
    await environment.advance(60 * second);
    expect(await store.claim({ owner: "other", leaseMs: 1, limit: 1, workflowId: "x" })).toEqual([]);
  });
});

describe("closing", () => {
  it("lets steps in flight end, begins no more, and leaves the rest to other processes", async () => {
    let finish: () => void = () => undefined;
    const definitions = {
      ...nodeDefinitions,
      stuck: defineNode({ executor: () => new Promise<{ data: string }>((resolve) => (finish = () => resolve({ data: "ended" }))) }),
    };
    const { runtime, environment, store } = setUp({ nodeDefinitions: definitions, workflows: [line("work", "stuck", "say")] });
    await runtime.start("work", { workflowId: "w" });
    await environment.settle();
    const closing = runtime.close();
    await environment.settle();
    finish();
    await closing;
    const snapshot = await store.load("w");
    expect(snapshot).toMatchObject({ status: "active", currentNodeId: "say1", version: 1 });
    await expect(runtime.start("work")).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
    const next = setUp({ store, nodeDefinitions: definitions }, environment);
    await environment.advance(2 * second);
    expect(await (await next.runtime.get("w")).result()).toEqual({ text: "say" });
  });

  it("gives up steps that do not end in time", async () => {
    const { runtime, environment, store } = setUp({
      nodeDefinitions: { ...nodeDefinitions, stuck: defineNode({ executor: () => new Promise<never>(() => undefined) }) },
    });
    await runtime.start("hang", { workflowId: "x" });
    await environment.settle();
    const closing = runtime.close({ timeoutMs: 3 * second });
    await environment.advance(4 * second);
    await closing;
    expect(await store.load("x")).toMatchObject({ status: "active", version: 1 });
  });
});

describe("a store or a caller at the wrong moment", () => {
  it("goes on after a store has not answered for a while", async () => {
    const { environment } = setUp();
    const store = memoryStore({ now: () => environment.now() });
    let down = 0;
    const shaky = {
      ...store,
      commit: async (commit: Parameters<typeof store.commit>[0]) => {
        await store.commit(commit);
        // the commit is made, and its acknowledgement is lost
        if (down-- > 0) throw new StepfoldError("STORE_UNAVAILABLE", { store: "shaky", reason: "gone" });
      },
    };
    const { runtime } = setUp({ store: shaky }, environment);
    down = 3;
    const run = await runtime.start("talk", { workflowId: "a" });
    await environment.advance(3 * second);
    expect((await run.snapshot()).status).toBe("paused");
    expect((await store.events("a", -1, 10)).map(({ event }) => event.version)).toEqual([0, 1, 2]);
    expect(calls).toEqual(["a/0#1"]);
  });

  it("learns at the next renewal that another process has cancelled, and aborts the step", async () => {
    let told: unknown = null;
    const definitions = {
      ...nodeDefinitions,
      stuck: defineNode({
        executor: (_data, step) =>
          new Promise<never>((_, reject) => {
            step.signal.addEventListener("abort", () => {
              told = step.signal.reason;
              reject(told);
            });
          }),
      }),
    };
    const { runtime, environment, store } = setUp({ nodeDefinitions: definitions, leaseMs: 30 * second });
    const elsewhere = setUp({ store, drive: false, nodeDefinitions: definitions }, environment);
    const run = await runtime.start("hang", { workflowId: "x" });
    await environment.settle();
    await (await elsewhere.runtime.get("x")).cancel();
    expect(told).toBe(null);
    await environment.advance(11 * second);
    expect(told).toMatchObject({ name: "AbortError" });
    await expect(run.result()).rejects.toMatchObject({ code: "EXECUTION_CANCELLED" });
  });

  it("rejects calls when the store stays unavailable, and leaves nothing half done", async () => {
    const { environment } = setUp();
    const store = memoryStore({ now: () => environment.now() });
    const away = (): Promise<never> => Promise.reject(new StepfoldError("STORE_UNAVAILABLE", { store: "away", reason: "gone" }));
    const { runtime } = setUp({ store: { ...store, create: away } }, environment);
    const starting = runtime.start("talk", { workflowId: "a" });
    const refused = expect(starting).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN", retryable: true, details: { workflowId: "a" } });
    await environment.advance(20 * second);
    await refused;
    expect(await store.load("a")).toBe(null);
  });

  it("loses no branch when an answer comes while another branch is in flight", async () => {
    let finish: () => void = () => undefined;
    const definitions = {
      ...nodeDefinitions,
      slow: defineNode({ executor: () => new Promise<{ data: string }>((resolve) => (finish = () => resolve({ data: "slow" }))) }),
    };
    const forked = {
      id: "forked",
      nodes: [
        { id: "f", type: "say" },
        { id: "slow", type: "slow" },
        { id: "ask", type: "ask" },
        { id: "after", type: "say" },
      ],
      edges: [
        { source: "f", target: "slow" },
        { source: "f", target: "ask" },
        { source: "ask", target: "after" },
      ],
    };
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const { runtime } = setUp({ store, nodeDefinitions: definitions, workflows: [forked] }, environment);
    const elsewhere = setUp({ store, drive: false, nodeDefinitions: definitions, workflows: [forked] }, environment);
    const run = await runtime.start("forked", { workflowId: "x" });
    await environment.settle();
    await (await elsewhere.runtime.get("x")).resume({ payload: { approved: true } });
    finish();
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
    expect(Object.keys((await run.snapshot()).context).sort()).toEqual(["after", "ask", "f", "slow"]);
    expect((await store.events("x", -1, 20)).map(({ event }) => event.version)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});
