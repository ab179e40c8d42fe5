import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineDurable } from "../../durable/define-durable.ts";
import { testRun } from "./test-run.ts";

const order = defineDurable({
  id: "order",
  input: z.object({ customer: z.string() }),
  waits: { approve: z.object({ approved: z.boolean() }) },
  signals: { cancel: z.object({ reason: z.string() }) },
  async run({ step }) {
    const { approved } = await step.waitFor("approve");
    return { approved };
  },
});

test("a test has the types of its workflow", async () => {
  const t = await testRun(order, {
    input: { customer: "ada" },
    mocks: { charge: [({ attempt }) => attempt.toFixed(), new Error("busy")] },
  });
  expectTypeOf(t.output).toEqualTypeOf<{ approved: boolean } | null>();
  await t.resume("approve", { approved: true });
  await t.resume(order.waits.approve, { approved: true }, { by: "ada" });
  await t.signal(order.signals.cancel, { reason: "moved" });
  // @ts-expect-error the name of the wait is misspelt
  await t.resume("aprove", { approved: true });
  // @ts-expect-error the payload has another member
  await t.signal("cancel", { why: "moved" });
  // @ts-expect-error the input is missing
  await testRun(order, {});
  // @ts-expect-error the input has another type
  await testRun(order, { input: { customer: 7 } });
});

test("a test of a graph takes any input and answer", async () => {
  const t = await testRun({ id: "graph", nodes: [{ id: "a", type: "approval" }], edges: [] }, { input: 7 });
  await t.resume("a", { approved: true });
  await t.signal("anything", 1);
});
