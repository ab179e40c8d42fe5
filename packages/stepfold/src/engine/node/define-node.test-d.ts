import { type } from "arktype";
import * as v from "valibot";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import type { JsonSchema } from "../../core/values/json.ts";
import { defineNode } from "./define-node.ts";
import type { GlobalsOf, NodeDefinition, NodeOutput } from "./node-definition.ts";
import type { StepContext } from "./step-context.ts";

describe("defineNode", () => {
  it("infers data from the input schema, as it is after its transforms", () => {
    defineNode({
      input: z.object({ amount: z.coerce.number(), at: z.string().transform((text) => new Date(text)), note: z.string().default("") }),
      executor(data) {
        expectTypeOf(data).toEqualTypeOf<{ amount: number; at: Date; note: string }>();
        return { data: 1 };
      },
    });
    defineNode({
      input: v.object({ amount: v.number(), tags: v.optional(v.array(v.string())) }),
      executor(data) {
        expectTypeOf(data.amount).toEqualTypeOf<number>();
        expectTypeOf(data.tags).toEqualTypeOf<string[] | undefined>();
        return { data: 1 };
      },
    });
    defineNode({
      input: type({ amount: "number", "note?": "string" }),
      executor(data) {
        expectTypeOf(data.amount).toEqualTypeOf<number>();
        expectTypeOf(data.note).toEqualTypeOf<string | undefined>();
        return { data: 1 };
      },
    });
  });

  it("infers data from what a function returns that checks", () => {
    const schema = z.object({ amount: z.coerce.number() });
    defineNode({
      input: (value) => schema.parse(value),
      resume: async (value) => z.string().nullable().parse(value),
      executor(data, step) {
        expectTypeOf(data).toEqualTypeOf<{ amount: number }>();
        expectTypeOf(step.externalPayload).toEqualTypeOf<string | null | undefined>();
        return { data: 1 };
      },
    });
    defineNode({
      input: schema.parse,
      executor(data) {
        expectTypeOf(data).toEqualTypeOf<{ amount: number }>();
        return { data: 1 };
      },
    });
  });

  it("gives unknown data for a JSON Schema, and for none", () => {
    const schema: JsonSchema = { type: "object" };
    defineNode({
      input: schema,
      executor(data) {
        expectTypeOf(data).toBeUnknown();
        return { data: 1 };
      },
    });
    defineNode({
      executor(data, step) {
        expectTypeOf(data).toBeUnknown();
        expectTypeOf(step.externalPayload).toBeUnknown();
        expectTypeOf(step.globals).toBeUnknown();
        return { data: 1 };
      },
    });
  });

  it("checks what is returned against the output schema", () => {
    const output = z.object({ receipt: z.string() });
    const node = defineNode({ output, executor: () => ({ data: { receipt: "r" } }) });
    expectTypeOf(node.executor).returns.toEqualTypeOf<
      NodeOutput<{ receipt: string }, string> | Promise<NodeOutput<{ receipt: string }, string>>
    >();
    defineNode({ output, executor: async () => ({ data: { receipt: "r" } }) });
    defineNode({
      output,
      // @ts-expect-error a receipt is text
      executor: () => ({ data: { receipt: 5 } }),
    });
    defineNode({
      output,
      // @ts-expect-error a promise of the wrong thing
      executor: async () => ({ data: {} }),
    });
    // @ts-expect-error an executor returns { data } or __pause
    defineNode({ executor: () => 5 });
    defineNode({ output, executor: () => ({ __pause: true, data: "anything" }) });
    defineNode({ output, executor: (_data, step) => step.suspend() });
  });

  it("takes as nextHandle what handles declares, and nothing else", () => {
    const handles = ["paid", "declined"] as const;
    defineNode({ handles, executor: () => ({ data: 1, nextHandle: "paid" }) });
    defineNode({ handles: ["paid", "declined"], executor: (data) => ({ data: 1, nextHandle: data ? "paid" : "declined" }) });
    defineNode({ handles: ["paid", "declined"], executor: () => ({ data: 1, nextHandles: ["paid", "declined"] }) });
    defineNode({ handles: ["paid"], executor: () => ({ data: 1, nextHandle: null }) });
    defineNode({
      handles: ["paid", "declined"],
      // @ts-expect-error a misspelt handle
      executor: () => ({ data: 1, nextHandle: "payed" }),
    });
    defineNode({
      handles: ["paid", "declined"],
      // @ts-expect-error a misspelt handle in a list
      executor: () => ({ data: 1, nextHandles: ["paid", "declind"] }),
    });
    const node = defineNode({ handles: ["paid", "declined"], executor: () => ({ data: 1, nextHandle: "paid" }) });
    expectTypeOf(node.handles).toEqualTypeOf<readonly ("paid" | "declined")[] | undefined>();
  });

  it("infers the payload of a resume", () => {
    defineNode({
      resume: z.object({ approved: z.boolean(), at: z.string().transform((text) => new Date(text)) }),
      executor(_data, step) {
        expectTypeOf(step.externalPayload).toEqualTypeOf<{ approved: boolean; at: Date } | undefined>();
        return { data: step.externalPayload?.approved };
      },
    });
    defineNode({
      resume: v.object({ approved: v.boolean() }),
      executor(_data, { externalPayload, suspend }) {
        if (!externalPayload) return suspend({ ask: "ok?" }, { timeout: "2 days" });
        expectTypeOf(externalPayload).toEqualTypeOf<{ approved: boolean }>();
        return { data: externalPayload.approved };
      },
    });
  });

  it("takes the globals from the type that the step is given", () => {
    const node = defineNode({
      input: z.object({ amount: z.number() }),
      async executor(data, step: StepContext<unknown, { bank: { charge(amount: number): Promise<string> } }>) {
        expectTypeOf(data).toEqualTypeOf<{ amount: number }>();
        return { data: await step.globals.bank.charge(data.amount) };
      },
    });
    expectTypeOf<GlobalsOf<{ node: typeof node }>>().toEqualTypeOf<{ bank: { charge(amount: number): Promise<string> } }>();
  });

  it("gives something that an engine takes, whatever its types", () => {
    const nodes = {
      a: defineNode({
        input: z.object({ amount: z.number() }),
        handles: ["x"],
        executor: (data) => ({ data: data.amount, nextHandle: "x" }),
      }),
      b: defineNode({ resume: v.string(), executor: (_data, step) => ({ data: step.externalPayload }) }),
    };
    expectTypeOf(nodes.a).toExtend<NodeDefinition>();
    expectTypeOf(nodes.b).toExtend<NodeDefinition>();
  });

  it("is told at the field of the output that is wrong (USE, small)", () => {
    defineNode({
      output: z.object({ n: z.number() }),
      executor: () => ({
        data: {
          // @ts-expect-error it is a number
          n: "x",
        },
      }),
    });
  });
});
