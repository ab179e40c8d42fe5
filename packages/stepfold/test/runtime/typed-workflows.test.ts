import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { defineDurable } from "../../src/durable/define-durable.ts";
import type { WaitToken } from "../../src/engine/node/typed.ts";
import { defineWorkflow } from "../../src/engine/workflow/define-workflow.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { closeAll, setUp } from "./runtime.fixture.ts";

afterEach(closeAll);

const subscription = defineDurable({
  id: "subscription",
  input: z.object({ customer: z.string() }),
  waits: { approve: z.object({ approved: z.boolean() }) },
  signals: { cancel: z.object({ reason: z.string() }) },
  async run({ input, step }) {
    const { approved } = await step.waitFor("approve");
    if (!approved) return { customer: input.customer, ended: "refused" };
    const { reason } = await step.signal("cancel");
    return { customer: input.customer, ended: reason };
  },
});
const order = defineWorkflow(
  { id: "order", nodes: [{ id: "approve", type: "approval", data: { title: "An order" } }], edges: [] },
  {
    input: z.object({ total: z.number() }),
    output: z.object({ approved: z.boolean() }),
    waits: { approve: z.object({ approved: z.boolean() }) },
  },
);

it("starts, answers and signals typed code, which brings its node types", async () => {
  const { runtime } = setUp({ workflows: [subscription], nodeDefinitions: undefined });
  const run = await runtime.start(subscription, { input: { customer: "ada" }, workflowId: "ada-1" });
  await run.waitFor(subscription.waits.approve);
  expect(await run.resume(subscription.waits.approve, { approved: true }, { by: "bob", idempotencyKey: "a" })).toEqual({ applied: true });
  expect(await run.resume(subscription.waits.approve, { approved: true }, { by: "bob", idempotencyKey: "a" })).toEqual({ applied: false });
  const same = await runtime.get("ada-1", subscription);
  expect(await same.signal(subscription.signals.cancel, { reason: "moved" }, { idempotencyKey: "b" })).toEqual({ applied: true });
  expect((await same.result()).ended).toBe("moved");
});

it("answers a typed graph, whose definition has the schema of the input", async () => {
  const { runtime } = setUp({ workflows: [order], nodeDefinitions: builtinNodes });
  expect(order.definition.input).toMatchObject({ type: "object", required: ["total"] });
  const run = await runtime.start(order, { input: { total: 5 } });
  await run.settled();
  await run.resume(order.waits.approve, { approved: true });
  expect((await run.result()).approved).toBe(true);
  await expect(runtime.start("order", { input: { total: "5" } })).rejects.toMatchObject({ code: "INPUT_INVALID" });
});

it("keeps the input schema that a definition has, and refuses options that it does not know", () => {
  const definition = { id: "own", input: { type: "object" }, nodes: [{ id: "say", type: "say" }], edges: [] } as const;
  expect(defineWorkflow(definition, { input: z.object({ total: z.number() }) }).definition.input).toEqual({ type: "object" });
  expect(() => defineWorkflow(definition, { inputs: z.string() } as never)).toThrow(expect.objectContaining({ code: "OPTION_UNKNOWN" }));
});

it("refuses what is no token, and says that nothing waits at the token of another workflow", async () => {
  const { runtime } = setUp({ workflows: [subscription] });
  const run = await runtime.start(subscription, { input: { customer: "ada" }, workflowId: "ada-2" });
  await run.settled();
  const untyped: Record<string, WaitToken> = subscription.waits;
  await expect(run.resume(untyped["aprove"] as never, { approved: true })).rejects.toMatchObject({
    code: "OPTION_INVALID",
    details: { option: "wait" },
  });
  await expect(run.signal({} as never, { reason: "x" })).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "signal" } });
  const other: WaitToken = { step: "review" };
  await expect(run.resume(other as never, {})).rejects.toMatchObject({ code: "WAIT_GONE", details: { target: "review" } });
  expect((await run.snapshot()).status).toBe("paused");
});

it("gives no typed handle of an execution of another workflow", async () => {
  const { runtime } = setUp({ workflows: [subscription, order], nodeDefinitions: builtinNodes });
  await runtime.start(order, { input: { total: 5 }, workflowId: "order-1" });
  await expect(runtime.get("order-1", subscription)).rejects.toMatchObject({
    code: "OPTION_INVALID",
    details: { option: "workflow", reason: 'is "subscription", and "order-1" is an execution of "order"' },
  });
  await expect(runtime.get("order-2", subscription)).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
});

it("checks the input by a schema that JSON Schema cannot express, and keeps what the caller gave", async () => {
  const inputs: unknown[] = [];
  const day = z.string().transform((text) => new Date(text));
  const byFunction = defineDurable({
    id: "report",
    input: (value: unknown) => z.object({ day }).parse(value),
    async run({ input }) {
      inputs.push(input);
      return input.day.getTime();
    },
  });
  const { runtime } = setUp({ workflows: [byFunction] });
  expect(byFunction.definition.input).toBeUndefined();
  const wrong = runtime.start(byFunction, { input: { day: 5 } as never, workflowId: "report-1" });
  await expect(wrong).rejects.toMatchObject({ code: "INPUT_INVALID", details: { workflow: "report", issues: [{ pointer: "/day" }] } });
  await expect(runtime.get("report-1")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  const run = await runtime.start("report", { input: { day: "2026-01-01" } });
  expect(await run.result()).toBe(Date.UTC(2026, 0, 1));
  expect((await run.snapshot()).input).toEqual({ day: "2026-01-01" });
  expect(inputs).toEqual([{ day: new Date("2026-01-01") }]);
});

it("checks what JSON Schema leaves out, such as a refinement, and a missing input as null", async () => {
  const even = defineDurable({ id: "even", input: z.number().refine((n) => n % 2 === 0), run: async ({ input }) => input });
  const { runtime } = setUp({ workflows: [even] });
  await expect(runtime.start(even, { input: 3 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await expect(runtime.start(even, {} as never)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  expect(await (await runtime.start(even, { input: 4 })).result()).toBe(4);
});
