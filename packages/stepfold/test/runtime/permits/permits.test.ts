import { afterEach, describe, expect, it } from "vitest";
import type { WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { memoryQueue } from "../../../src/queues/memory/memory-queue.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, dying, hour, line, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** Makes a runtime whose steps take one second each. `under` counts the steps that run now, and the most that ran at once. */
function setUpSlowSteps(limit: number, more: { readonly queue?: true } = {}) {
  const environment = virtualEnvironment();
  const under = { now: 0, most: 0 };
  const order: string[] = [];
  const slow = defineNode({
    executor: async (_data, step) => {
      under.most = Math.max(under.most, ++under.now);
      order.push(step.workflowId);
      await new Promise<void>((resolve) => void environment.after(second, resolve));
      under.now--;
      return { data: "done" };
    },
  });
  const concurrency = { key: "customer-{{ input.customer }}", limit };
  const workflows: WorkflowDefinition[] = [
    { ...line("serve", "slow", "say"), concurrency },
    { ...line("ask-first", "ask", "slow"), concurrency },
    { ...line("bare", "say"), concurrency: { key: "{{ input.customer }}" } },
    { ...line("hold", "stuck"), concurrency },
    line("free", "slow"),
  ];
  const queue = more.queue && memoryQueue({ environment });
  const options = { workflows, nodeDefinitions: { ...nodeDefinitions, slow }, ...(queue && { queue }) };
  return { under, order, options, ...setUp(options, environment) };
}

describe("executions with a concurrency key", () => {
  it.each([1, 3])("run %d at once, one after the other without waiting for a poll, over all processes", async (limit) => {
    const { environment, store, options, runtime, under, order } = setUpSlowSteps(limit);
    for (let i = 0; i < 2; i++) setUp({ ...options, store }, environment);
    for (let i = 0; i < 6; i++) await runtime.start("serve", { workflowId: `e${i}`, input: { customer: 7 } });
    await environment.advance((6 / limit + 0.5) * second);
    expect(under.most).toBe(limit);
    expect(order).toEqual(["e0", "e1", "e2", "e3", "e4", "e5"]);
    expect((await store.list({ status: ["completed"] })).items).toHaveLength(6);
  });

  it("do not hold up executions of other keys, or without a key", async () => {
    const { environment, runtime, under } = setUpSlowSteps(1);
    for (let i = 0; i < 5; i++) await runtime.start("serve", { input: { customer: i } });
    await runtime.start("free");
    await environment.advance(0.5 * second);
    expect(under.most).toBe(6);
  });

  it("hold no permit while they are paused", async () => {
    const { environment, runtime, store } = setUpSlowSteps(1);
    const first = await runtime.start("ask-first", { input: { customer: 7 } });
    const second_ = await runtime.start("serve", { input: { customer: 7 } });
    await environment.advance(2 * second);
    expect(await second_.snapshot()).toMatchObject({ status: "completed" });
    await first.resume({ payload: { approved: true } });
    await environment.advance(2 * second);
    expect(await first.snapshot()).toMatchObject({ status: "completed", permit: { key: "customer-7", limit: 1 } });
    expect((await store.list()).items.every(({ lease }) => lease === null)).toBe(true);
  });

  it("share their permits with a queue too", async () => {
    const { environment, store, options, runtime, under } = setUpSlowSteps(1, { queue: true });
    setUp({ ...options, store, pollMs: hour }, environment);
    for (let i = 0; i < 5; i++) await runtime.start("serve", { input: { customer: 7 } });
    await environment.advance(5.5 * second);
    expect(under.most).toBe(1);
    expect((await store.list({ status: ["completed"] })).items).toHaveLength(5);
  });

  it("go on when the process that held the permit has died", async () => {
    const { environment, store, options, runtime: other } = setUpSlowSteps(1);
    const process = dying(environment);
    const { runtime } = setUp({ ...options, store, environment: process.environment });
    await runtime.start("hold", { workflowId: "lost", input: { customer: 7 } });
    await environment.advance(0.5 * second);
    process.die();
    const run = await other.start("serve", { input: { customer: 7 } });
    await environment.advance(10 * second);
    expect(await run.snapshot()).toMatchObject({ version: 0 });
    await environment.advance(25 * second);
    // the other process has taken over the lost execution, which holds the permit again
    const { until } = (await store.list()).items.find(({ workflowId }) => workflowId === "lost")!.lease!;
    expect(until).toBeGreaterThan(environment.now());
    await (await other.get("lost")).cancel();
    await environment.advance(2 * second);
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
  });

  it("are refused if the input gives no key, or the store has no permits", async () => {
    const { runtime, environment, options } = setUpSlowSteps(1);
    for (const customer of [undefined, null, "", [1], { id: 1 }, "x".repeat(256)]) {
      const starting = runtime.start("bare", { input: customer === undefined ? {} : { customer } });
      await expect(starting, JSON.stringify(customer)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    }
    for (const customer of [7, true, "x".repeat(255)]) {
      expect(await (await runtime.start("bare", { input: { customer } })).snapshot()).toMatchObject({
        permit: { key: String(customer), limit: 1 },
      });
    }
    const { permits: _, ...features } = memoryStore().features;
    const { runtime: other } = setUp({ ...options, store: { ...memoryStore(), features } }, environment);
    const refused = { code: "OPTION_INVALID", details: { option: "concurrency" } };
    await expect(other.start("serve", { input: { customer: 7 } })).rejects.toMatchObject(refused);
  });
});
