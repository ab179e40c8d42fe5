import { describe, expect, it } from "vitest";
import { defineDurable } from "../../../src/durable/define-durable.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { leavesBy } from "../../../src/testing/kit/mocks.ts";
import { testRun } from "../../../src/testing/kit/test-run.ts";
import { subscription } from "./subscription.fixture.ts";

const paid = { ok: true };

const order = {
  id: "order",
  nodes: [
    { id: "pause", type: "wait", data: { for: "30d" } },
    { id: "charge", type: "pay", data: { amount: 7 }, retryPolicy: { maxAttempts: 2, backoff: "fixed" as const, interval: "1h" } },
    { id: "approve", type: "approval" },
    { id: "done", type: "set", data: { receipt: "{{ nodes.charge.last.data.receipt }}" } },
    { id: "sorry", type: "set", data: "no" },
  ],
  edges: [
    { source: "pause", target: "charge" },
    { source: "charge", target: "approve" },
    { source: "approve", target: "done", sourceHandle: "approved" },
    { source: "approve", target: "sorry", sourceHandle: "rejected" },
  ],
};

const withBill = {
  id: "shop",
  nodes: [
    { id: "bill", type: "workflow", data: { workflow: "billing" } },
    { id: "pack", type: "map", data: { items: [1, 2], workflow: "packing" } },
  ],
  edges: [{ source: "bill", target: "pack" }],
  workflows: {
    billing: { id: "billing", nodes: [{ id: "charge", type: "pay" }], edges: [] },
    packing: { id: "packing", nodes: [{ id: "weigh", type: "scale" }], edges: [] },
  },
};

describe("a test of durable code", () => {
  it("has mocks, a clock that is moved, and typed signals", async () => {
    await using t = await testRun(subscription, {
      input: { customer: "ada" },
      mocks: { charge: ({ attempt }) => ({ ok: attempt === 1 }) },
    });
    expect(t.waits).toMatchObject([{ kind: "signal", signal: "cancel", address: "cancel" }]);
    await t.advance("30d");
    await t.signal(subscription.signals.cancel, { reason: "moved" });
    expect(t.status).toBe("completed");
    expect(t.output?.ended).toBe("moved");
    expect(t.way).toEqual(["charge", "cancel", "charge", "cancel"]);
    expect(t.calls("charge").map(({ attempt, isMocked }) => ({ attempt, isMocked }))).toEqual([
      { attempt: 1, isMocked: true },
      { attempt: 1, isMocked: true },
    ]);
  });

  it("makes retries when their time has come, or at once", async () => {
    const busy = new Error("busy");
    await using t = await testRun(subscription, { input: { customer: "ada" }, mocks: { charge: [busy, busy, paid] } });
    expect(t.explain().status).toBe("error");
    await t.advance("59m");
    expect(t.calls("charge")).toHaveLength(1);
    await t.advance("1m");
    expect(t.calls("charge")).toHaveLength(2);
    await t.retry("charge");
    expect(t.way).toEqual(["charge", "cancel"]);
    expect(t.now).toBe(Date.UTC(2026, 0, 1, 1));
  });

  it("goes on in another process after a crash, and performs no committed step again", async () => {
    const performed: string[] = [];
    const trip = defineDurable({
      id: "trip",
      async run({ step }) {
        await step.run("hotel", () => performed.push("hotel"));
        const flight = await step.run("flight", () => "booked");
        await step.sleep("night", "1d");
        return flight;
      },
    });
    await using t = await testRun(trip, { mocks: { flight: [({ crash }) => crash(), "booked"] } });
    expect(t.calls("flight")).toHaveLength(2);
    await t.crash();
    await t.advance("1d");
    expect(t.output).toBe("booked");
    expect(performed).toEqual(["hotel"]);
    expect(new Set(t.calls("flight").map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it("lets a step that never ends run into its timeout", async () => {
    const slow = { id: "slow", nodes: [{ id: "call", type: "service", timeout: "1m" }], edges: [] };
    await using t = await testRun(slow, { mocks: { call: () => new Promise(() => undefined) }, patienceMs: 20 });
    expect(t.status).toBe("active");
    await t.advance("1m");
    expect(t.error).toMatchObject({ code: "STEP_TIMEOUT" });
  });
});

describe("a test of a graph", () => {
  it("needs no code of nodes that are mocked, and answers waits by their node", async () => {
    await using t = await testRun(order, { nodeDefinitions: builtinNodes, mocks: { pay: [new Error("busy"), { receipt: "r-1" }] } });
    await t.advance("30d");
    expect(t.status).toBe("error");
    await t.advance("1h");
    expect(t.calls("charge")).toMatchObject([{ data: { amount: 7 }, attempt: 1 }, { attempt: 2 }]);
    await t.resume("approve", { approved: true });
    expect(t.way).toEqual(["pause", "charge", "approve", "done"]);
    expect(t.output).toEqual({ receipt: "r-1" });
  });

  it("begins at a node, with what earlier nodes have given", async () => {
    await using t = await testRun(order, { nodeDefinitions: builtinNodes, mocks: { approve: leavesBy("approved") } });
    const at = await t.from("approve", { context: { charge: { receipt: "r-2" } } });
    expect(at.way).toEqual(["approve", "done"]);
    expect(at.output).toEqual({ receipt: "r-2" });
  });

  it("mocks steps of children by their address, with and without the number of an item", async () => {
    await using t = await testRun(withBill, {
      nodeDefinitions: builtinNodes,
      mocks: { "bill/charge": "paid", "pack[1]/weigh": 9, "pack/weigh": ({ address }) => address },
    });
    expect(t.status).toBe("completed");
    expect(t.way).toEqual(["bill", "bill/charge", "pack", "pack[0]/weigh", "pack[1]/weigh"]);
    expect(t.output).toEqual(["pack[0]/weigh", 9]);
  });

  it("refuses a command as the run does, and goes on", async () => {
    await using t = await testRun(order, { nodeDefinitions: builtinNodes, mocks: { pay: paid } });
    await expect(t.resume("approve", { approved: true })).rejects.toMatchObject({ code: "WAIT_GONE" });
    await t.advance(new Date(t.now + 30 * 86_400_000));
    expect(t.status).toBe("paused");
  });
});

describe("a mock", () => {
  it("is missed where there is no code either", async () => {
    const t = await testRun(order, { nodeDefinitions: builtinNodes });
    await expect(t.advance("30d")).rejects.toMatchObject({
      reason: "MOCK_MISSING",
      message: expect.stringContaining('"charge" has the type "pay"'),
    });
    await t.close();
  });

  it("that nothing has used is a mistake at the end", async () => {
    const t = await testRun(subscription, { input: { customer: "ada" }, mocks: { charge: paid, chrage: paid } });
    await expect(t.close()).rejects.toMatchObject({
      reason: "MOCK_UNUSED",
      message: expect.stringContaining('"chrage"; performed were: charge'),
    });
  });

  it("with too few answers, or too many, is a mistake", async () => {
    const few = await testRun(subscription, { input: { customer: "ada" }, mocks: { charge: [paid] } });
    await expect(few.advance("30d")).rejects.toMatchObject({ reason: "MOCK_EXHAUSTED" });
    await few.close();
    const many = await testRun(subscription, { input: { customer: "ada" }, mocks: { charge: [paid, paid] } });
    await expect(many.close()).rejects.toMatchObject({ message: expect.stringContaining('"charge" (1 of 2 answers)') });
  });
});
