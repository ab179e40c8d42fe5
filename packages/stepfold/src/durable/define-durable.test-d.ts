import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { Json } from "../core/values/json.ts";
import { defineNode } from "../engine/node/define-node.ts";
import type { StepContext } from "../engine/node/step-context.ts";
import type { AnyTyped, SignalToken, Typed, WaitToken } from "../engine/node/typed.ts";
import { defineWorkflow } from "../engine/workflow/define-workflow.ts";
import { WorkflowEngine } from "../engine/workflow-engine.ts";
import type { SnapshotStore } from "../ports/snapshot-store.ts";
import { createRuntime } from "../runtime/create-runtime.ts";
import type { Run } from "../runtime/handle/run.ts";
import { defineDurable } from "./define-durable.ts";
import type { GivenAnswer, StepWaitOptions } from "./durable-step.ts";
import type { Jsonified } from "./jsonified.ts";

declare const store: SnapshotStore;
type InOf<W> = W extends Typed<infer In, unknown, unknown, unknown, never> ? In : never;
type OutOf<W> = W extends Typed<never, infer Out, unknown, unknown, never> ? Out : never;

const refund = defineNode({ executor: (_data, step: StepContext<unknown, { mail: number }>) => ({ data: step.globals.mail }) });
const subscription = defineDurable({
  id: "subscription",
  input: z.object({ customer: z.string(), from: z.coerce.date<string>() }),
  waits: { approve: z.object({ approved: z.boolean() }) },
  signals: { cancel: z.object({ reason: z.string() }) },
  nodes: { refund },
  async run({ input, step, globals }, _: { readonly bank: string }) {
    expectTypeOf(input).toEqualTypeOf<{ customer: string; from: Date }>();
    expectTypeOf(globals).toEqualTypeOf<{ readonly bank: string }>();
    const cancelled = await step.signal("cancel", { timeout: "30 days" });
    return cancelled ? { ended: cancelled.reason, at: input.from } : step.continueAs({ customer: input.customer, from: "2026-01-01" });
  },
});
const plain = defineDurable({ id: "plain", run: async ({ step }) => step.random() });
const order = defineWorkflow(
  { id: "order", nodes: [{ id: "approve", type: "approval" }], edges: [] },
  { input: z.object({ total: z.number() }), output: z.object({ paid: z.boolean() }), waits: { approve: z.object({ by: z.string() }) } },
);

describe("what defineDurable and defineWorkflow make", () => {
  it("has the types of both sides", () => {
    expectTypeOf<InOf<typeof subscription>>().toEqualTypeOf<{ customer: string; from: string }>();
    expectTypeOf<InOf<typeof plain>>().toEqualTypeOf<Json>();
    expectTypeOf<InOf<typeof order>>().toEqualTypeOf<{ total: number }>();
    expectTypeOf(subscription.waits.approve).toEqualTypeOf<WaitToken<{ approved: boolean }, "approve">>();
    expectTypeOf(subscription.signals.cancel).toEqualTypeOf<SignalToken<{ reason: string }, "cancel">>();
    expectTypeOf(order.waits.approve).toEqualTypeOf<WaitToken<{ by: string }, "approve">>();
    expectTypeOf(order).toExtend<AnyTyped>();
    expectTypeOf(subscription).toExtend<AnyTyped>();
    // @ts-expect-error no node has this id
    defineWorkflow({ id: "order", nodes: [{ id: "approve", type: "approval" }], edges: [] }, { waits: { aprove: z.string() } });
  });

  it("returns what the schema of the output takes, and gives what it makes", () => {
    const report = defineDurable({
      id: "report",
      output: z.object({ at: z.coerce.date<string>() }),
      run: async () => ({ at: "2026-01-01" }),
    });
    expectTypeOf<OutOf<typeof report>>().toEqualTypeOf<{ at: string }>();
    // @ts-expect-error the schema takes text
    defineDurable({ id: "report", output: z.object({ at: z.string() }), run: async () => ({ at: 5 }) });
  });
});

describe("globals that typed workflows need", () => {
  it("are asked for by a runtime and by an engine", async () => {
    createRuntime({ store, workflows: [plain, subscription, order], globals: { bank: "b", mail: 1 } });
    createRuntime({ store, workflows: [plain, order] });
    // @ts-expect-error they are missing
    createRuntime({ store, workflows: [plain, subscription] });
    // @ts-expect-error those of its node types are missing
    createRuntime({ store, workflows: [subscription], globals: { bank: "b" } });
    const engine = new WorkflowEngine({ workflow: subscription });
    await engine.execute({ globals: { bank: "b", mail: 1 } });
    // @ts-expect-error they are missing
    await engine.execute({});
    await new WorkflowEngine({ workflow: plain }).execute({});
    const around = defineDurable({ id: "around", workflows: [subscription], run: async () => null });
    // @ts-expect-error a workflow inside needs them
    createRuntime({ store, workflows: [around] });
  });
});

describe("a runtime", async () => {
  const runtime = createRuntime({ store, workflows: [plain, subscription], globals: { bank: "b", mail: 1 } });
  const run = await runtime.start(subscription, { input: { customer: "ada", from: "2026-01-01" }, workflowId: "ada" });

  it("starts and finds typed workflows", async () => {
    expectTypeOf(await run.result()).toEqualTypeOf<{ ended: string; at: string }>();
    expectTypeOf(await (await runtime.get("ada", subscription)).result()).toEqualTypeOf<{ ended: string; at: string }>();
    expectTypeOf(await (await runtime.start(plain)).result()).toEqualTypeOf<number>();
    expectTypeOf(await runtime.start("plain", { input: 5 })).toEqualTypeOf<Run>();
    expectTypeOf(await runtime.start({ id: "a", nodes: [], edges: [] })).toEqualTypeOf<Run>();
    expectTypeOf(run).toExtend<Run>();
    // @ts-expect-error the input is missing
    await runtime.start(subscription);
    // @ts-expect-error also here
    await runtime.start(subscription, { workflowId: "ada" });
    // @ts-expect-error it is read as text
    await runtime.start(subscription, { input: { customer: "ada", from: new Date() } });
  });

  it("takes the answers and signals of the workflow, and no others", async () => {
    await run.resume(subscription.waits.approve, { approved: true }, { by: "bob" });
    await run.resume({ step: "approve", payload: 5 });
    await run.signal(subscription.signals.cancel, { reason: "moved" }, { key: "k" });
    await run.signal("cancel", 5);
    await run.signal("cancel");
    // @ts-expect-error the payload is missing
    await run.resume(subscription.waits.approve);
    // @ts-expect-error the payload is missing
    await run.signal(subscription.signals.cancel);
    // @ts-expect-error a wait of another workflow
    await run.resume(order.waits.approve, { by: "bob" });
    // @ts-expect-error the code has a wait and no signal of this name
    await run.signal(subscription.waits.approve, { approved: true });
    // @ts-expect-error another payload
    await run.signal(subscription.signals.cancel, { reason: 5 });
    // nobody knows the workflow of an untyped handle, but the token has the type of its payload
    const untyped: Run = run;
    await untyped.resume(order.waits.approve, { by: "bob" });
    // @ts-expect-error another payload
    await untyped.resume(order.waits.approve, { by: 5 });
  });
});

describe("what code gets", () => {
  it("may be null wherever a timeout may be set", () => {
    defineDurable({
      id: "waits",
      waits: { ok: z.object({ yes: z.boolean() }) },
      async run({ step }) {
        const options: StepWaitOptions = { responders: ["ada"] };
        expectTypeOf(await step.waitFor("ok")).toEqualTypeOf<{ yes: boolean }>();
        expectTypeOf(await step.waitFor("ok", { responders: ["ada"], timeout: undefined })).toEqualTypeOf<{ yes: boolean }>();
        expectTypeOf(await step.waitFor("ok", { timeout: "1d" })).toEqualTypeOf<{ yes: boolean } | null>();
        expectTypeOf(await step.waitFor("ok", options)).toEqualTypeOf<{ yes: boolean } | null>();
        expectTypeOf(await step.waitFor("ok", { quorum: 2, responders: ["a", "b"] })).toEqualTypeOf<
          readonly GivenAnswer<{ yes: boolean }>[]
        >();
        expectTypeOf(await step.start("start", order, { total: 5 })).toEqualTypeOf<{ paid: boolean }>();
        expectTypeOf(await step.start("start", order, { total: 5 }, { wait: false })).toEqualTypeOf<{ readonly workflowId: string }>();
        expectTypeOf(await step.map("map", [{ total: 5 }], order)).toEqualTypeOf<{ paid: boolean }[]>();
        // @ts-expect-error the code waits for no such signal
        await step.signal("ok");
        // @ts-expect-error the total is missing
        await step.call("call", order, {});
      },
    });
  });

  it("is what JSON leaves of a value", () => {
    expectTypeOf<Jsonified<Date>>().toEqualTypeOf<string>();
    expectTypeOf<Jsonified<undefined>>().toEqualTypeOf<null>();
    expectTypeOf<Jsonified<string | undefined>>().toEqualTypeOf<string | null>();
    expectTypeOf<Jsonified<{ at: Date; note?: string; list: readonly (Date | undefined)[] }>>().toEqualTypeOf<{
      at: string;
      note?: string | undefined;
      list: (string | null)[];
    }>();
    expectTypeOf<Jsonified<{ row: Promise<number> }>>().toEqualTypeOf<{ row: never }>();
    expectTypeOf<Jsonified<unknown>>().toEqualTypeOf<Json>();
    expectTypeOf<Jsonified<{ rows: unknown }>>().toEqualTypeOf<{ rows: Json | undefined }>();
  });
});
