import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../src/engine/node/define-node.ts";
import type { WorkQueue } from "../../src/ports/work-queue.ts";
import { memoryQueue } from "../../src/queues/memory/memory-queue.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { calls, closeAll, dying, hour, line, nodeDefinitions, second, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

/** A store that records the executions that a sweep claims because their messages have not come. */
function rescued(environment: VirtualEnvironment) {
  const store = memoryStore({ now: () => environment.now() });
  const rescues: string[] = [];
  const claim: typeof store.claim = async (options) => {
    const found = await store.claim(options);
    if (options.overdueMs !== undefined) for (const { workflowId } of found) rescues.push(workflowId);
    return found;
  };
  return { store: { ...store, claim }, rescues };
}

describe("a runtime that works later", () => {
  it("only stores what is due until work begins, and again once the worker has stopped", async () => {
    const { runtime, environment } = setUp({ drive: false });
    const run = await runtime.start("talk");
    await environment.advance(5 * second);
    expect(calls).toEqual([]);
    const worker = runtime.work({ concurrency: 5 });
    await environment.advance(second);
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
    await worker.stop();
    await run.resume({ payload: { approved: true } });
    await environment.advance(hour);
    expect(await run.snapshot()).toMatchObject({ status: "active" });
    runtime.work();
    await environment.advance(second);
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
  });

  it("cannot begin twice, nor with an invalid concurrency, nor when it is closed", async () => {
    const working = { code: "OPTION_INVALID" };
    expect(() => setUp().runtime.work()).toThrow(expect.objectContaining(working));
    const { runtime } = setUp({ drive: false });
    for (const concurrency of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "5" as never]) {
      expect(() => setUp({ maxExecutions: concurrency })).toThrow(expect.objectContaining(working));
      expect(() => runtime.work({ concurrency })).toThrow(expect.objectContaining(working));
    }
    runtime.work();
    expect(() => runtime.work()).toThrow(expect.objectContaining(working));
    await runtime.close();
    expect(() => runtime.work()).toThrow(expect.objectContaining({ code: "RUNTIME_CLOSED" }));
  });

  it("stops after the steps in flight, and other workers go on at once", async () => {
    const { runtime, environment, store } = setUp({ drive: false });
    await runtime.start("talk", { workflowId: "a" });
    await runtime.start("hang", { workflowId: "b" });
    const worker = runtime.work();
    await environment.advance(second);
    const stopping = worker.stop({ timeoutMs: 5 * second });
    await environment.advance(6 * second);
    await stopping;
    expect((await store.list()).items.map(({ workflowId, lease }) => [workflowId, lease === null])).toEqual([
      ["b", false],
      ["a", true],
    ]);
  });

  it("runs no more at once than its limit; the rest is not lost", async () => {
    const { runtime, environment, store } = setUp({ maxExecutions: 4 });
    const runs = await Promise.all(Array.from({ length: 50 }, (_, i) => runtime.start("hang", { workflowId: `h${i}` })));
    await environment.advance(5 * second);
    const held = (await store.list({ limit: 100 })).items.filter(({ lease }) => lease !== null);
    expect(held).toHaveLength(4);
    for (const run of runs) await run.cancel();
    const talks = await Promise.all(Array.from({ length: 50 }, (_, i) => runtime.start("talk", { workflowId: `t${i}` })));
    await environment.advance(5 * second);
    for (const run of talks) expect(await run.snapshot()).toMatchObject({ status: "paused" });
  });

  it("leaves room for starts when many timers are due", async () => {
    const { runtime, environment, store } = setUp({ drive: false });
    for (let i = 0; i < 30; i++) await runtime.start("hang", { workflowId: `h${i}` });
    const { runtime: working } = setUp({ store, maxExecutions: 10 }, environment);
    await environment.advance(2 * second);
    const run = await working.start("talk");
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
  });

  it("leaves room for timers when many executions were started here", async () => {
    const { runtime, environment } = setUp({ maxExecutions: 10 });
    const nap = await runtime.start("nap", { input: { until: environment.now() + second } });
    await environment.settle();
    for (let i = 0; i < 9; i++) await runtime.start("hang");
    await environment.advance(2 * second);
    expect(await nap.snapshot()).toMatchObject({ status: "completed" });
  });
});

describe("a queue", () => {
  it("wakes workers for starts, answers and timers of other processes, without a sweep", async () => {
    const environment = virtualEnvironment();
    const { store, rescues } = rescued(environment);
    const queue = memoryQueue({ environment });
    const client = setUp({ store, queue, drive: false }, environment).runtime;
    setUp({ store, queue, pollMs: hour }, environment);
    const run = await client.start("talk", { workflowId: "a" });
    const nap = await client.start("nap", { input: { until: environment.now() + 90 * second } });
    const flaky = await client.start("try");
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
    await run.resume({ payload: { approved: true } });
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
    await environment.advance(31 * second);
    expect(await flaky.snapshot()).toMatchObject({ status: "completed" });
    expect(await nap.snapshot()).toMatchObject({ status: "paused" });
    await environment.advance(60 * second);
    expect(await nap.snapshot()).toMatchObject({ status: "completed" });
    expect(rescues).toEqual([]);
  });

  it("carries ids and nothing else", async () => {
    const environment = virtualEnvironment();
    const inner = memoryQueue({ environment });
    const sent: object[] = [];
    const send: WorkQueue["send"] = (wakeUps) => {
      sent.push(...wakeUps);
      return inner.send(wakeUps);
    };
    const queue: WorkQueue = { ...inner, send };
    const { runtime } = setUp({ queue, drive: false }, environment);
    const run = await runtime.start("talk", { workflowId: "a", input: { secret: "s3cret" } });
    runtime.work();
    await environment.settle();
    await run.resume({ payload: { approved: true } });
    for (const wakeUp of sent) expect(Object.keys(wakeUp).sort()).toEqual(["dedupeKey", "delayMs", "workflowId"]);
    expect(JSON.stringify(sent)).not.toContain("s3cret");
  });

  it("may lose every message: a sweep finds what was due, half a second later", async () => {
    const environment = virtualEnvironment();
    const { store, rescues } = rescued(environment);
    const queue: WorkQueue = { ...memoryQueue({ environment }), send: async () => undefined };
    const { runtime } = setUp({ store, queue, drive: false }, environment);
    const run = await runtime.start("talk", { workflowId: "a" });
    setUp({ store, queue }, environment);
    await environment.advance(0.9 * second);
    expect(await run.snapshot()).toMatchObject({ version: 0 });
    await environment.advance(1.2 * second);
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
    expect(rescues).toEqual(["a"]);
  });

  it("has more messages than slots: what it has lost runs before what came later, and no more runs at once than the limit", async () => {
    const environment = virtualEnvironment();
    const { store } = rescued(environment);
    const queue = memoryQueue({ environment });
    let [under, most] = [0, 0];
    const order: string[] = [];
    const slow = defineNode({
      executor: async (_data, { workflowId }) => {
        order.push(workflowId);
        most = Math.max(most, ++under);
        await new Promise<void>((resolve) => void environment.after(second, resolve));
        under--;
        return { data: "done" };
      },
    });
    const of = { store, workflows: [line("slow", "slow")], nodeDefinitions: { slow } };
    const client = setUp({ ...of, queue, drive: false }, environment).runtime;
    const start = async (count: number, name: string): Promise<void> => {
      for (let i = 0; i < count; i++) await client.start("slow", { workflowId: `${name}${i}` });
    };
    await start(40, "early");
    await setUp({ ...of, drive: false }, environment).runtime.start("slow", { workflowId: "missed" });
    await start(40, "late");
    setUp({ ...of, queue, maxExecutions: 10 }, environment);
    await environment.advance(12 * second);
    expect(order).toHaveLength(81);
    expect(order.indexOf("missed")).toBeLessThan(60);
    expect(most).toBeLessThanOrEqual(10);
  });

  it("may double every message: each step is performed once", async () => {
    const environment = virtualEnvironment();
    const inner = memoryQueue({ environment });
    const queue: WorkQueue = {
      ...inner,
      send: async (wakeUps) => inner.send([...wakeUps, ...wakeUps].map(({ workflowId }) => ({ workflowId }))),
    };
    const { store, runtime } = setUp({ queue, drive: false }, environment);
    for (let i = 0; i < 3; i++) setUp({ store, queue }, environment);
    const run = await runtime.start("talk");
    await environment.settle();
    await run.resume({ payload: { approved: true } });
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
    expect(calls).toHaveLength(2);
  });

  it("may hang or fail: callers wait two seconds at most, and what was committed is acknowledged", async () => {
    const environment = virtualEnvironment();
    const problems: unknown[] = [];
    for (const send of [() => new Promise<void>(() => undefined), () => Promise.reject(new Error("gone"))]) {
      const queue: WorkQueue = { ...memoryQueue({ environment }), send };
      const { runtime, store } = setUp({ queue, drive: false, onProblem: (_, error) => problems.push(error) }, environment);
      const starting = runtime.start("talk", { workflowId: "a" });
      await environment.advance(3 * second);
      expect(await (await starting).snapshot()).toMatchObject({ version: 0 });
      expect(await store.load("a")).toMatchObject({ version: 0 });
    }
    expect(problems).toHaveLength(1);
  });

  it("may hang when a worker ends: that takes no longer than a step may take", async () => {
    const environment = virtualEnvironment();
    const never = (): Promise<void> => new Promise(() => undefined);
    const queue: WorkQueue = { ...memoryQueue({ environment }), consume: async () => ({ drain: never }) };
    const { runtime } = setUp({ queue }, environment);
    const closing = runtime.close({ timeoutMs: 5 * second });
    await environment.advance(6 * second);
    await closing;
  });

  it("may be unavailable when a worker begins: the store is polled, and the queue is tried again and again", async () => {
    const environment = virtualEnvironment();
    const inner = memoryQueue({ environment });
    let tries = 0;
    const queue: WorkQueue = {
      ...inner,
      consume: (handle, options) => (++tries < 4 ? Promise.reject(new Error("away")) : inner.consume(handle, options)),
    };
    const { runtime, store } = setUp({ queue, drive: false }, environment);
    const run = await runtime.start("talk");
    setUp({ store, queue }, environment);
    await environment.advance(3 * second);
    expect(tries).toBe(4);
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
  });

  it("gives the message of a worker that died to another one", async () => {
    const environment = virtualEnvironment();
    const queue = memoryQueue({ environment });
    const { runtime, store } = setUp({ queue, drive: false }, environment);
    const run = await runtime.start("talk");
    const process = dying(environment);
    setUp({ store, queue, environment: process.environment });
    process.die();
    await environment.settle();
    setUp({ store, queue, pollMs: hour }, environment);
    await environment.advance(32 * second);
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
  });

  it("tells other workers what a worker that stops has not done", async () => {
    const environment = virtualEnvironment();
    const { store, rescues } = rescued(environment);
    const queue = memoryQueue({ environment });
    let open: () => void = () => undefined;
    const gate = defineNode({ executor: () => new Promise<{ data: string }>((resolve) => (open = () => resolve({ data: "open" }))) });
    const more = { store, queue, nodeDefinitions: { ...nodeDefinitions, gate }, workflows: [line("two", "gate", "say")], pollMs: hour };
    const { runtime } = setUp({ ...more, drive: false }, environment);
    const run = await runtime.start("two");
    const worker = runtime.work();
    await environment.settle();
    const stopping = worker.stop();
    await environment.settle();
    open();
    await stopping;
    expect(await run.snapshot()).toMatchObject({ status: "active", currentNodeId: "say1" });
    setUp(more, environment);
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
    expect(rescues).toEqual([]);
  });
});
