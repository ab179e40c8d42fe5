import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../src/testing/virtual-environment.ts";
import { calls, closeAll, dying, hour, line, nodeDefinitions, second, setUp } from "./runtime.fixture.ts";
import { keepingQueue, minute, serverless, slowSteps, swept } from "./sweep.fixture.ts";

afterEach(closeAll);

/** A virtual clock with the set of its armed timers. */
function countedTimers(inner: VirtualEnvironment) {
  const timers = new Set<() => void>();
  const environment: VirtualEnvironment = {
    ...inner,
    after(delayMs, callback, options) {
      const cancel = (): void => {
        timers.delete(cancel);
        end();
      };
      const end = inner.after(
        delayMs,
        () => {
          timers.delete(cancel);
          callback();
        },
        options,
      );
      timers.add(cancel);
      return cancel;
    },
  };
  return { environment, timers };
}

describe("a sweep", () => {
  it("advances what is due, and leaves nothing behind: no claim, no timer, no poll", async () => {
    const { environment, timers } = countedTimers(virtualEnvironment());
    const { runtime, store } = serverless(environment);
    for (const workflowId of ["a", "b", "c"]) await runtime.start("talk", { workflowId });
    timers.clear();
    expect(await swept(environment, 0, runtime.sweep())).toEqual({ advanced: 3, left: [], failed: [], isMore: false });
    expect(timers.size).toBe(0);
    const { items } = await store.list();
    expect(items.map(({ status, lease }) => [status, lease])).toEqual(["c", "b", "a"].map(() => ["paused", null]));
    await environment.advance(hour);
    expect(await swept(environment, 0, runtime.sweep())).toEqual({ advanced: 0, left: [], failed: [], isMore: false });
  });

  it("once a minute is enough for timers, retries, children and what a dead process has left", async () => {
    const environment = virtualEnvironment();
    const parent = { id: "parent", nodes: [{ id: "child", type: "workflow", data: { workflow: "talk", detached: true } }], edges: [] };
    const { builtinNodes } = await import("../../src/nodes/index.ts");
    const more = {
      nodeDefinitions: { ...builtinNodes, ...nodeDefinitions },
      workflows: [parent, line("talk", "say", "say"), line("nap", "sleep", "say"), line("try", "flaky"), line("hang", "say", "stuck")],
    };
    const { runtime, store } = serverless(environment, more);
    await runtime.start("parent", { workflowId: "family" });
    await runtime.start("nap", { workflowId: "nap", input: { until: environment.now() + 90 * second } });
    await runtime.start("try", { workflowId: "try" });
    const process = dying(environment);
    setUp({ ...more, store, environment: process.environment });
    await runtime.start("talk", { workflowId: "orphan" });
    process.die();
    for (let pokes = 0; pokes < 6; pokes++) await swept(environment, minute, runtime.sweep({ timeoutMs: 50 * second }));
    const { items } = await store.list();
    expect(items.map(({ status }) => status)).toEqual(items.map(() => "completed"));
    expect(items.length).toBe(5);
  });

  it("runs what others make due while it goes on", async () => {
    const environment = virtualEnvironment();
    const { nodes } = slowSteps(environment);
    const { runtime } = serverless(environment, { nodeDefinitions: nodes, workflows: [line("slow", "slow"), line("talk", "say")] });
    await runtime.start("slow", { workflowId: "first" });
    const sweeping = runtime.sweep();
    await environment.settle();
    await runtime.start("talk", { workflowId: "later" });
    expect(await swept(environment, 3 * second, sweeping)).toMatchObject({ advanced: 2, isMore: false });
  });

  it("takes no more than its limit, runs no more at once than it is told to, and says that more is due", async () => {
    const environment = virtualEnvironment();
    const { nodes, begun } = slowSteps(environment);
    const { runtime } = serverless(environment, { nodeDefinitions: nodes, workflows: [line("slow", "slow")] });
    for (let i = 0; i < 8; i++) await runtime.start("slow", { workflowId: `s${i}` });
    const sweeping = runtime.sweep({ limit: 5, concurrency: 2, timeoutMs: minute });
    await environment.settle();
    expect(begun).toHaveLength(2);
    expect(await swept(environment, 7 * second, sweeping)).toEqual({ advanced: 5, left: [], failed: [], isMore: true });
    expect(await swept(environment, 3 * second, runtime.sweep())).toMatchObject({ advanced: 3, isMore: false });
    expect(begun).toHaveLength(8);
  });

  it("may be made by several processes at once: each step is performed once", async () => {
    const environment = virtualEnvironment();
    const { runtime, store } = serverless(environment);
    const runtimes = [runtime, ...[1, 2, 3].map(() => serverless(environment, { store }).runtime)];
    for (let i = 0; i < 40; i++) await runtime.start("talk", { workflowId: `t${i}` });
    const reports = await Promise.all(runtimes.map((one) => one.sweep({ concurrency: 3 })));
    expect(reports.reduce((sum, { advanced }) => sum + advanced, 0)).toBe(40);
    expect(new Set(calls).size).toBe(40);
    expect(calls).toHaveLength(40);
  });

  it("refuses what makes no sense, and a closed runtime", async () => {
    const { runtime } = serverless(virtualEnvironment());
    for (const options of [{ limit: 0 }, { limit: 1.5 }, { concurrency: 0 }, { timeoutMs: 0 }, { timeoutMs: Number.NaN }])
      await expect(runtime.sweep(options)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(runtime.sweep({ deadline: 5 } as object)).rejects.toMatchObject({ code: "OPTION_UNKNOWN" });
    await runtime.close();
    await expect(runtime.sweep()).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
  });

  it("rejects if the store does not answer from the beginning, and reports the execution if it does later", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    let isAway = true;
    const away = (): Promise<never> => new Promise(() => undefined);
    const store: typeof inner = { ...inner, claim: (options) => (isAway ? away() : inner.claim(options)), load: away };
    const { runtime } = serverless(environment, { store, leaseMs: 20 * second });
    await runtime.start("talk", { workflowId: "a" });
    const sweeping = runtime.sweep({ timeoutMs: 40 * second });
    const refused = expect(sweeping).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await environment.advance(10 * second);
    await refused;
    isAway = false;
    const report = await swept(environment, 40 * second, runtime.sweep({ timeoutMs: 40 * second }));
    expect(report).toMatchObject({ advanced: 0, failed: [{ workflowId: "a", error: { code: "STORE_UNAVAILABLE" } }] });
  });
});

describe("the end of a sweep", () => {
  const two = [line("long", "slow", "slow", "slow", "slow", "slow", "slow"), line("deaf", "say", "deaf")];

  it("comes in time: what was done is committed, what is left is given back", async () => {
    const environment = virtualEnvironment();
    const { nodes, aborted } = slowSteps(environment);
    const { runtime, store } = serverless(environment, { nodeDefinitions: nodes, workflows: two });
    await runtime.start("long", { workflowId: "a" });
    const report = await swept(environment, 10 * second, runtime.sweep({ timeoutMs: 10 * second }));
    expect(report).toEqual({ advanced: 1, left: [{ workflowId: "a", isAnnounced: false }], failed: [], isMore: true });
    expect(aborted).toEqual([]);
    expect(await store.load("a")).toMatchObject({ status: "active", currentNodeId: "slow4" });
    expect((await store.list()).items[0]!.lease).toBe(null);
    expect(await swept(environment, 10 * second, runtime.sweep())).toMatchObject({ advanced: 1, left: [] });
    expect(await store.load("a")).toMatchObject({ status: "completed" });
  });

  it("comes in time although a step is deaf: it gets its signal, and the claim is given back at once", async () => {
    const environment = virtualEnvironment();
    const { nodes, aborted } = slowSteps(environment);
    const { runtime, store } = serverless(environment, { nodeDefinitions: nodes, workflows: two });
    await runtime.start("deaf", { workflowId: "a" });
    const sweeping = runtime.sweep({ timeoutMs: 10 * second });
    await environment.advance(8.9 * second);
    expect(aborted).toEqual([]);
    expect(await swept(environment, 0.2 * second, sweeping)).toMatchObject({ left: [{ workflowId: "a" }] });
    expect(aborted).toEqual(["a"]);
    expect((await store.list()).items[0]!.lease).toBe(null);
    expect(await store.load("a")).toMatchObject({ status: "active", currentNodeId: "deaf1" });
  });

  it("comes in time although the store or the queue is silent", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    const silent = (): Promise<never> => new Promise(() => undefined);
    const { runtime } = serverless(environment, { store: { ...inner, commit: silent } });
    await runtime.start("talk", { workflowId: "a" });
    expect(await swept(environment, 5 * second, runtime.sweep({ timeoutMs: 5 * second }))).toMatchObject({
      left: [{ workflowId: "a", isAnnounced: false }],
    });
    const { queue } = keepingQueue({ send: silent });
    const { nodes } = slowSteps(environment);
    const other = serverless(environment, { queue, nodeDefinitions: nodes, workflows: two });
    const starting = other.runtime.start("deaf", { workflowId: "b" });
    await environment.advance(3 * second);
    await starting;
    const report = await swept(environment, 5 * second, other.runtime.sweep({ timeoutMs: 5 * second }));
    expect(report).toMatchObject({ left: [{ workflowId: "b", isAnnounced: false }] });
  });

  it("ends in time although a claim is not answered, and gives back what the store answers later", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    const claim: typeof inner.claim = async (options) => {
      await new Promise<void>((resolve) => void environment.after(7 * second, resolve));
      return inner.claim(options);
    };
    const { runtime } = serverless(environment, { store: { ...inner, claim } });
    await runtime.start("talk", { workflowId: "a" });
    const sweeping = runtime.sweep({ timeoutMs: 5 * second }).catch((error: unknown) => error);
    expect(await swept(environment, 5 * second, sweeping)).toMatchObject({ code: "STORE_UNAVAILABLE", retryable: true });
    await environment.advance(3 * second);
    const [free] = await inner.claim({ owner: "other", leaseMs: second, limit: 1 });
    expect(free).toMatchObject({ workflowId: "a", expired: 0 });
  });

  it("takes what a step gave at the last moment", async () => {
    const environment = virtualEnvironment();
    const late = defineNode({
      executor: async (_data, { signal }) => {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        return { data: "in time" };
      },
    });
    const held: (() => void)[] = [];
    const inner = memoryStore({ now: () => environment.now() });
    const commit: typeof inner.commit = async (one) => {
      await new Promise<void>((resolve) => void held.push(resolve));
      return inner.commit(one);
    };
    const workflows = [line("two", "say", "late")];
    const { runtime, store } = serverless(environment, {
      store: { ...inner, commit },
      nodeDefinitions: { ...nodeDefinitions, late },
      workflows,
    });
    await runtime.start("two", { workflowId: "a" });
    const sweeping = runtime.sweep({ timeoutMs: 10 * second });
    // the commit of the first step is under way when the time is over
    await environment.advance(9.5 * second);
    for (const answer of held.splice(0)) answer();
    expect(await swept(environment, 0.4 * second, sweeping)).toMatchObject({ left: [{ workflowId: "a" }] });
    expect(await store.load("a")).toMatchObject({ currentNodeId: "late1" });
    expect((await inner.list()).items[0]!.lease).toBe(null);
  });

  it("is sooner if its signal says so, or if the runtime is closed", async () => {
    const environment = virtualEnvironment();
    const { nodes, aborted, begun } = slowSteps(environment);
    const { runtime } = serverless(environment, { nodeDefinitions: nodes, workflows: two });
    await runtime.start("deaf", { workflowId: "a" });
    const end = new AbortController();
    const sweeping = runtime.sweep({ timeoutMs: minute, signal: end.signal });
    await environment.settle();
    end.abort();
    expect(await swept(environment, 0, sweeping)).toMatchObject({ advanced: 1, left: [{ workflowId: "a" }] });
    expect(aborted).toEqual(["a"]);
    expect(await swept(environment, second, runtime.sweep({ signal: AbortSignal.abort() }))).toMatchObject({ advanced: 0, isMore: true });

    await runtime.start("long", { workflowId: "b" });
    const again = runtime.sweep({ timeoutMs: minute });
    await environment.settle();
    const closing = runtime.close({ timeoutMs: 5 * second });
    expect(await swept(environment, 6 * second, again)).toMatchObject({ advanced: 2 });
    await closing;
    expect(begun).toEqual(["a", "a", "b"]);
  });

  it("parks an execution whose step does not fit into five slices in a row; not one that was only late in them", async () => {
    const environment = virtualEnvironment();
    const { nodes } = slowSteps(environment);
    const { runtime, store } = serverless(environment, { nodeDefinitions: nodes, workflows: two });
    await runtime.start("deaf", { workflowId: "a" });
    for (let i = 0; i < 5; i++) await swept(environment, 10 * second, runtime.sweep());
    expect(await store.load("a")).toMatchObject({ status: "active" });
    await swept(environment, 10 * second, runtime.sweep());
    expect(await store.load("a")).toMatchObject({ status: "parked", parked: { code: "WORKER_CRASHED" } });

    await runtime.start("deaf", { workflowId: "b" });
    for (let i = 0; i < 10; i++) {
      const end = new AbortController();
      const sweeping = runtime.sweep({ signal: end.signal });
      await environment.advance(2 * second);
      end.abort();
      await swept(environment, second, sweeping);
    }
    expect(await store.load("b")).toMatchObject({ status: "active" });
  });
});
