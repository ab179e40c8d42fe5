import { afterEach, describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../core/definition.ts";
import { StepfoldError } from "../core/stepfold-error.ts";
import { defineNode } from "../engine/define-node.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../testing/virtual-environment.ts";
import { createRuntime } from "./create-runtime.ts";
import type { Runtime, RuntimeOptions } from "./runtime.ts";

const second = 1_000;
const hour = 3_600 * second;
const open: Runtime[] = [];

afterEach(() => {
  // their time stands still from now on, so there is nothing to wait for
  for (const runtime of open.splice(0)) void runtime.close({ timeoutMs: 1 });
});

const calls: string[] = [];
const nodeDefinitions = {
  say: defineNode({
    executor: (data, step) => {
      calls.push(step.idempotencyKey);
      return { data };
    },
  }),
  ask: defineNode({
    resume: { type: "object", properties: { approved: { type: "boolean" } }, required: ["approved"] },
    executor: (data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend(data)),
  }),
  sleep: defineNode({
    executor: (_data, step) => (step.resumed ? { data: "slept" } : { __pause: true, resumeAt: (step.input as { until: number }).until }),
  }),
  flaky: defineNode({
    retryPolicy: { maxAttempts: 3, interval: "10s", backoff: "exponential" },
    executor: (_data, step) => {
      calls.push(`attempt ${step.attempt}`);
      if (step.attempt < 3) throw new Error("not yet");
      return { data: "done" };
    },
  }),
  stuck: defineNode({
    executor: (_data, step) => new Promise((_, reject) => step.signal.addEventListener("abort", () => reject(step.signal.reason))),
  }),
};

const line = (id: string, ...types: string[]): WorkflowDefinition => ({
  id,
  nodes: types.map((type, i) => ({ id: `${type}${i}`, type, data: { text: type } })),
  edges: types.slice(1).map((type, i) => ({ source: `${types[i]}${i}`, target: `${type}${i + 1}` })),
});

function setUp(more: Partial<RuntimeOptions> = {}, environment = virtualEnvironment()) {
  calls.length = 0;
  const store = more.store ?? memoryStore({ now: () => environment.now() });
  const runtime =
    open[
      open.push(
        createRuntime({
          store,
          nodeDefinitions,
          environment,
          workflows: [line("talk", "say", "ask", "say"), line("nap", "sleep", "say"), line("try", "flaky"), line("hang", "say", "stuck")],
          ...more,
        }),
      ) - 1
    ]!;
  return { environment, store, runtime };
}

/** What a process that dies leaves behind: its timers and promises are gone, its claims are not. */
function dying(environment: VirtualEnvironment) {
  let alive = true;
  return {
    die: () => {
      alive = false;
    },
    environment: {
      ...environment,
      after: (delayMs: number, callback: () => void) => environment.after(delayMs, () => alive && callback()),
    },
  };
}

describe("an execution", () => {
  it("runs to its pause, is resumed, and gives its output", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("talk", { workflowId: "a", input: 1, metadata: { tenant: "x" } });
    await environment.settle();
    expect((await run.settled()).status).toBe("paused");
    expect(await run.resume({ step: "ask1", payload: { approved: true }, by: "ann" })).toEqual({ applied: true });
    await environment.settle();
    expect(await run.result()).toEqual({ text: "say" });
    expect((await run.snapshot()).metadata).toEqual({ tenant: "x" });
  });

  it("makes its retries when they are due, and not before", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("try");
    await environment.settle();
    expect(calls).toEqual(["attempt 1"]);
    await environment.advance(9 * second);
    expect(calls).toHaveLength(1);
    await environment.advance(1 * second + 10);
    expect(calls).toEqual(["attempt 1", "attempt 2"]);
    await environment.advance(19 * second);
    expect(calls).toHaveLength(2);
    await environment.advance(1 * second + 10);
    expect(await run.result()).toBe("done");
  });

  it("makes a retry at once when told to", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("try");
    await environment.settle();
    await run.retry();
    await environment.settle();
    expect(calls).toEqual(["attempt 1", "attempt 2"]);
  });

  it("sleeps for months without a process, and goes on in another one", async () => {
    const { runtime, environment, store } = setUp();
    const until = environment.now() + 90 * 24 * hour;
    const run = await runtime.start("nap", { workflowId: "long", input: { until } });
    await environment.settle();
    await runtime.close();
    await environment.advance(90 * 24 * hour);
    expect((await run.snapshot()).status).toBe("paused");
    const later = setUp({ store }, environment);
    await environment.advance(2 * second);
    expect(await (await later.runtime.get("long")).result()).toEqual({ text: "say" });
  });

  it("ends when it is cancelled, and tells the step under way", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("hang");
    await environment.settle();
    await run.cancel("no longer needed");
    await environment.settle();
    await expect(run.result()).rejects.toMatchObject({ code: "EXECUTION_CANCELLED" });
    expect((await run.snapshot()).version).toBe(2);
    await expect(run.cancel()).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
  });

  it("is watched event by event, from any version on", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("talk");
    const seen: unknown[] = [];
    const watching = (async () => {
      for await (const { event, snapshot, activePaths } of run.watch()) {
        seen.push([event.type, snapshot.version]);
        if (activePaths.get("ask1")?.status === "suspended") {
          expect(activePaths.get("ask1")).toMatchObject({ suspendPayload: { text: "ask" }, stepPath: ["say0"] });
          await run.resume({ payload: { approved: true } });
        }
      }
    })();
    await environment.advance(5 * second);
    await watching;
    expect(seen).toEqual([
      ["started", 0],
      ["completed", 1],
      ["suspended", 2],
      ["resumed", 3],
      ["completed", 4],
      ["completed", 5],
    ]);
    const rest: number[] = [];
    for await (const { event } of run.watch({ after: 3 })) rest.push(event.version);
    expect(rest).toEqual([4, 5]);
  });

  it("rejects its result with the error when it failed", async () => {
    const { runtime, environment } = setUp({
      nodeDefinitions: { ...nodeDefinitions, say: defineNode({ executor: () => Promise.reject(new TypeError("broken")) }) },
    });
    const run = await runtime.start("talk");
    await environment.settle();
    await expect(run.result()).rejects.toMatchObject({ code: "EXECUTION_FAILED", details: { nodeId: "say0", message: "broken" } });
  });
});

describe("starting", () => {
  it("gives the execution there is when id and input are the same", async () => {
    const { runtime, environment } = setUp();
    const runs = await Promise.all(Array.from({ length: 20 }, () => runtime.start("talk", { workflowId: "once", input: { n: 1 } })));
    await environment.settle();
    expect(new Set(runs.map(({ workflowId }) => workflowId))).toEqual(new Set(["once"]));
    expect(calls).toEqual(["once/0#1"]);
  });

  it("refuses an id that was started with another input or workflow", async () => {
    const { runtime } = setUp();
    await runtime.start("talk", { workflowId: "once", input: 1 });
    await expect(runtime.start("talk", { workflowId: "once", input: 2 })).rejects.toMatchObject({
      code: "START_CONFLICT",
      details: { differs: "input" },
    });
    await expect(runtime.start("try", { workflowId: "once", input: 1 })).rejects.toMatchObject({
      code: "START_CONFLICT",
      details: { differs: "definition" },
    });
  });

  it("refuses what it does not know", async () => {
    const { runtime } = setUp();
    await expect(runtime.start("tlak")).rejects.toMatchObject({ code: "DEFINITION_UNKNOWN" });
    await expect(runtime.get("nobody")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
    await expect(runtime.start("talk", { workflowId: "" })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(() => createRuntime({ store: memoryStore(), nodeDefinitions, leaseMs: 0 })).toThrow(StepfoldError);
  });

  it("goes on with the definition it was started with, whatever is deployed since", async () => {
    const { runtime, environment, store } = setUp();
    await runtime.start("talk", { workflowId: "old" });
    await environment.settle();
    await runtime.close();
    const edited = line("talk", "say", "ask", "flaky");
    const later = setUp({ store, workflows: [edited] }, environment);
    const run = await later.runtime.get("old");
    await run.resume({ payload: { approved: true } });
    await environment.settle();
    expect(await run.result()).toEqual({ text: "say" });
  });
});

describe("answering", () => {
  it("applies one of many answers", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("talk");
    await environment.settle();
    const answers = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => run.resume({ payload: { approved: true, n } })));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const answer of answers) if (answer.status === "rejected") expect(["WAIT_GONE", "EXECUTION_ENDED"]).toContain(answer.reason.code);
  });

  it("knows a repeated answer by its key, and refuses another answer under the same key", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("talk");
    await environment.settle();
    const answer = { payload: { approved: true }, idempotencyKey: "click-1" };
    const both = await Promise.all([run.resume(answer), run.resume(answer)]);
    expect(both.map(({ applied }) => applied).sort()).toEqual([false, true]);
    await environment.settle();
    expect(await run.resume(answer)).toEqual({ applied: false });
    await expect(run.resume({ ...answer, payload: { approved: false } })).rejects.toMatchObject({ code: "RESUME_CONFLICT" });
  });

  it("changes nothing when the answer is no good", async () => {
    const { runtime, environment } = setUp();
    const run = await runtime.start("talk");
    await environment.settle();
    const before = await run.snapshot();
    await expect(run.resume({ payload: { approved: "yes" } })).rejects.toMatchObject({
      code: "RESUME_INVALID",
      details: { issues: [{ pointer: "/approved" }] },
    });
    await expect(run.resume({ step: "say0", payload: { approved: true } })).rejects.toMatchObject({ code: "WAIT_GONE" });
    await expect(run.resume({ waitId: "0@99", payload: { approved: true } })).rejects.toMatchObject({ code: "WAIT_GONE" });
    expect(await run.snapshot()).toEqual(before);
  });
});

describe("a process that dies", () => {
  it("is replaced after its lease, and only the step that was under way is made again", async () => {
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
  it("lets steps under way end, begins no more, and leaves the rest to others", async () => {
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

describe("serverless", () => {
  it("advances an execution turn by turn, and says when it is due again", async () => {
    const { runtime, environment } = setUp({ drive: false });
    const run = await runtime.start("try", { workflowId: "t" });
    expect(calls).toEqual([]);
    expect(await runtime.advance("t")).toMatchObject({
      advanced: true,
      snapshot: { status: "error" },
      wakeAt: environment.now() + 10 * second,
    });
    expect(await runtime.advance("t")).toMatchObject({ advanced: false });
    await environment.advance(10 * second);
    await runtime.advance("t");
    await environment.advance(20 * second);
    expect(await runtime.advance("t")).toMatchObject({ advanced: true, snapshot: { status: "completed" }, wakeAt: null });
    expect(await run.result()).toBe("done");
    await expect(runtime.advance("nobody")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  });
});

describe("bad days", () => {
  it("rides out a store that does not answer for a while", async () => {
    const { environment } = setUp();
    const store = memoryStore({ now: () => environment.now() });
    let down = 0;
    const shaky = {
      ...store,
      commit: async (commit: Parameters<typeof store.commit>[0]) => {
        await store.commit(commit);
        // the acknowledgement is lost: the commit was made, but nobody hears so
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

  it("learns with the next sign of life that somebody else has cancelled, and tells the step", async () => {
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

  it("tells callers when the store stays away, and keeps nothing half done", async () => {
    const { environment } = setUp();
    const store = memoryStore({ now: () => environment.now() });
    const away = (): Promise<never> => Promise.reject(new StepfoldError("STORE_UNAVAILABLE", { store: "away", reason: "gone" }));
    const { runtime } = setUp({ store: { ...store, create: away } }, environment);
    const starting = runtime.start("talk", { workflowId: "a" });
    const refused = expect(starting).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    await environment.advance(20 * second);
    await refused;
    expect(await store.load("a")).toBe(null);
  });

  it("leaves an execution alone whose node types it lacks, and says so", async () => {
    const { runtime, environment, store } = setUp({ drive: false });
    await runtime.start("talk", { workflowId: "a" });
    const problems: unknown[] = [];
    setUp(
      {
        store,
        workflows: [],
        nodeDefinitions: {},
        onProblem: (workflowId, error) => problems.push([workflowId, (error as StepfoldError).code]),
      },
      environment,
    );
    await environment.advance(2 * second);
    expect(problems).toEqual([["a", "DEFINITION_INVALID"]]);
    expect(await store.load("a")).toMatchObject({ status: "active", version: 0 });
  });

  it("loses no branch when an answer comes while another branch is under way", async () => {
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
