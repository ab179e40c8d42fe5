import { afterEach, describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { memoryQueue } from "../../../src/queues/memory/memory-queue.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, dying, line, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** Makes a runtime with a rate limit of `limit` in ten seconds. `begun` records the steps, with their times in seconds from the start. */
function setUpRates(limit = 2, more: { readonly queue?: true; readonly drive?: false } = {}) {
  const environment = virtualEnvironment();
  const from = environment.now();
  const begun: (readonly [id: string, atSeconds: number])[] = [];
  const note = defineNode({
    executor: (_data, step) => {
      begun.push([step.workflowId, Math.floor((environment.now() - from) / second)]);
      return { data: "done" };
    },
  });
  const rateLimit = { limit, period: "10s" };
  const workflows: WorkflowDefinition[] = [
    { ...line("send", "note", "say"), rateLimit },
    { ...line("by-customer", "note"), rateLimit: { ...rateLimit, key: "{{ input.customer }}" } },
    { ...line("ask-first", "ask", "note"), rateLimit },
    { ...line("flaky", "flaky", "note"), rateLimit },
    { ...line("hold", "stuck"), rateLimit },
    line("free", "note"),
  ];
  const queue = more.queue && memoryQueue({ environment });
  const options = {
    workflows,
    nodeDefinitions: { ...nodeDefinitions, note },
    ...(queue && { queue }),
    ...(more.drive === false && { drive: false }),
  };
  return { begun, options, ...setUp(options, environment) };
}

describe("executions with a rate limit", () => {
  it("begin in the order of their starts, no more of them in any period than may, over all processes", async () => {
    const { environment, store, options, runtime, begun } = setUpRates();
    for (let i = 0; i < 2; i++) setUp({ ...options, store }, environment);
    for (let i = 0; i < 6; i++) await runtime.start("send", { workflowId: `e${i}` });
    await environment.advance(30 * second);
    expect(begun.map(([id]) => id)).toEqual(["e0", "e1", "e2", "e3", "e4", "e5"]);
    const times = begun.map(([, at]) => at);
    for (const [index, at] of times.entries()) if (index >= 2) expect(at - times[index - 2]!).toBeGreaterThanOrEqual(10);
    expect(times.at(-1)).toBeLessThan(25);
    expect((await store.list({ status: ["completed"] })).items).toHaveLength(6);
  });

  it("begin at the same pace if they were started by a process that drives nothing", async () => {
    const { environment, store, options, runtime, begun } = setUpRates(2, { drive: false });
    for (let i = 0; i < 6; i++) await runtime.start("send", { workflowId: `e${i}` });
    setUp({ ...options, drive: true, store }, environment);
    await environment.advance(30 * second);
    expect(begun.map(([id]) => id)).toEqual(["e0", "e1", "e2", "e3", "e4", "e5"]);
  });

  it("wait for nothing but that: not those of other keys, nor without a limit, nor later turns and retries", async () => {
    const { environment, runtime, begun } = setUpRates(1);
    const asking = await runtime.start("ask-first", { workflowId: "asking" });
    await runtime.start("flaky", { workflowId: "flaky" });
    for (const customer of [1, 2, 3]) await runtime.start("by-customer", { workflowId: `c${customer}`, input: { customer } });
    await runtime.start("free", { workflowId: "free" });
    await runtime.start("ask-first", { workflowId: "waits" });
    await environment.advance(second);
    expect(begun.map(([id]) => id).sort()).toEqual(["c1", "c2", "c3", "free"]);
    await asking.resume({ payload: { approved: true } });
    await environment.advance(second);
    expect(begun.map(([id]) => id)).toContain("asking");
    // the second attempt of "flaky" is made after 10 seconds, the third after 20 more
    await environment.advance(30 * second);
    expect(begun.at(-1)).toEqual(["flaky", 30]);
  });

  it("begin at the pace of the workflow as it is deployed now", async () => {
    const { environment, store, options, runtime, begun } = setUpRates(1);
    for (let i = 0; i < 6; i++) await runtime.start("send", { workflowId: `e${i}` });
    await environment.advance(second);
    expect(begun).toHaveLength(1);
    await runtime.close();
    const [first, ...others] = options.workflows as [WorkflowDefinition, ...WorkflowDefinition[]];
    const faster = [{ ...first, rateLimit: { limit: 4, period: "10s" } }, ...others];
    const { runtime: next } = setUp({ ...options, store, workflows: faster }, environment);
    await next.start("send", { workflowId: "e6" });
    await environment.advance(second);
    expect(begun.map(([id]) => id)).toEqual(["e0", "e1", "e2", "e3"]);
    await environment.advance(20 * second);
    expect(begun.map(([id]) => id)).toEqual(["e0", "e1", "e2", "e3", "e4", "e5", "e6"]);
  });

  it("begin with a queue too", async () => {
    const { environment, store, options, runtime, begun } = setUpRates(2, { queue: true });
    setUp({ ...options, store }, environment);
    for (let i = 0; i < 6; i++) await runtime.start("send");
    await environment.advance(35 * second);
    expect(begun).toHaveLength(6);
    const times = begun.map(([, at]) => at);
    for (const [index, at] of times.entries()) if (index >= 2) expect(at - times[index - 2]!).toBeGreaterThanOrEqual(10);
  });

  it("are not begun twice as fast because a process dies", async () => {
    const { environment, store, options, runtime: other, begun } = setUpRates(1);
    const process = dying(environment);
    const { runtime } = setUp({ ...options, store, environment: process.environment });
    await runtime.start("hold", { workflowId: "lost" });
    await environment.advance(0.5 * second);
    process.die();
    await other.start("hold", { workflowId: "next" });
    await environment.advance(5 * second);
    expect((await store.summaries!(["next"]))[0]).toMatchObject({ lease: null, steps: 0 });
    await environment.advance(30 * second);
    // the execution "lost" goes on, although "next" has begun meanwhile
    const leases = await store.summaries!(["lost", "next"]);
    expect(leases.every(({ lease }) => lease !== null && lease.until > environment.now())).toBe(true);
    expect(begun).toEqual([]);
  });

  it("go on from another execution at once: that has begun already", async () => {
    const { environment, runtime } = setUpRates(1);
    const run = await runtime.start("ask-first", { workflowId: "first" });
    await environment.advance(second);
    await run.cancel();
    await run.restart();
    const fork = await run.fork();
    await environment.advance(second);
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
    expect(await fork.snapshot()).toMatchObject({ status: "paused" });
    expect((await fork.snapshot()).rate).toBeUndefined();
  });

  it("cannot be passed by a fork, or by a cancellation and a restart, of an execution that has not begun", async () => {
    const { environment, runtime } = setUpRates(1);
    await runtime.start("send");
    const run = await runtime.start("send", { workflowId: "waits" });
    await environment.advance(second);
    const fork = await run.fork();
    await run.cancel();
    await run.restart();
    await environment.advance(second);
    for (const waiting of [run, fork])
      expect(await waiting.snapshot()).toMatchObject({ status: "active", steps: 0, rate: { key: "send" } });
    for (let turn = 0; turn < 4; turn++) await environment.advance(10 * second);
    for (const begun of [run, fork]) expect((await begun.snapshot()).steps).toBeGreaterThan(0);
  });

  it("say why they wait", async () => {
    const { environment, runtime, store } = setUpRates(1);
    await runtime.start("send");
    const run = await runtime.start("send", { workflowId: "waits" });
    await environment.advance(second);
    expect((await run.explain()).sentence).toContain('as soon as its rate limit allows: at most 1 start with the key "send" in 10 s');
    expect(await run.snapshot()).toMatchObject({ rate: { key: "send", limit: 1, periodMs: 10 * second } });
    const { wakeAt } = (await store.summaries!(["waits"]))[0]!;
    expect(wakeAt! - environment.now()).toBeGreaterThan(8 * second);
  });

  it("are refused if the input gives no key, or the store keeps no rates", async () => {
    const { runtime, environment, options } = setUpRates();
    for (const customer of [null, "", [1], "x".repeat(256)]) {
      const starting = runtime.start("by-customer", { input: { customer } });
      await expect(starting, JSON.stringify(customer)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    }
    const { permits: _, ...features } = memoryStore().features;
    const { runtime: other } = setUp({ ...options, store: { ...memoryStore(), features } }, environment);
    const refused = { code: "OPTION_INVALID", details: { option: "rateLimit" } };
    await expect(other.start("send")).rejects.toMatchObject(refused);
  });

  it("count for their own tenant", async () => {
    const { environment, runtime, begun } = setUpRates(1);
    for (const tenant of ["a", "b"]) await runtime.start("send", { tenant });
    await environment.advance(second);
    expect(begun).toHaveLength(2);
  });
});
