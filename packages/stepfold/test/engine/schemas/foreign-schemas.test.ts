import * as v030 from "valibot030";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { z as z3 } from "zod3";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import type { NodeDefinition } from "../../../src/engine/node/node-definition.ts";
import { checkWorkflow, WorkflowEngine } from "../../../src/index.ts";

/** Schemas of libraries as they were before Standard Schema, each with a check of its own. */
const old = {
  "zod 3.23": {
    schema: z3.object({ amount: z3.number(), note: z3.string().default("none") }),
    parse: (data: unknown) => zodOrder.parse(data),
  },
  "valibot 0.30": {
    schema: v030.object({ amount: v030.number(), note: v030.optional(v030.string(), "none") }),
    parse: (data: unknown) => v030.parse(v030.object({ amount: v030.number(), note: v030.optional(v030.string(), "none") }), data),
  },
};
const zodOrder = z3.object({ amount: z3.number(), note: z3.string().default("none") });

const workflow = { id: "w", nodes: [{ id: "n", type: "pay", data: { amount: "{{ input.amount }}" } }], edges: [] };
const engineOf = (pay: NodeDefinition): WorkflowEngine<{ readonly pay: NodeDefinition }> =>
  new WorkflowEngine({ workflow, nodeDefinitions: { pay } });

const notTaken: readonly (readonly [string, unknown])[] = [
  ...Object.entries(old).map(([name, { schema }]) => [name, schema] as const),
  ["an object of a class", new (class Schema {})()],
  ["a JSON Schema with a class instance inside", { type: "object", properties: { at: { const: new Date(0) } } }],
  ["a JSON Schema with a function inside", { type: "object", properties: { at: { check: () => true } } }],
  ["text", "object"],
  ["a list", [{ type: "object" }]],
  ["null", null],
];

describe("a schema that is neither a JSON Schema nor a Standard Schema", () => {
  for (const [name, schema] of notTaken)
    for (const option of ["input", "output", "resume"] as const) {
      const definition = { [option]: schema, executor: () => ({ data: 1 }) } as unknown as NodeDefinition;

      it(`is refused as ${option} when the node type is made: ${name}`, () => {
        expect(() => defineNode(definition)).toThrow(
          expect.objectContaining({
            code: "OPTION_INVALID",
            message: expect.stringMatching(new RegExp(`${option}.*newer version.*function that checks.*schema\\.parse`)),
          }),
        );
      });

      it(`is a mistake of a workflow that uses the type, as ${option}, without defineNode: ${name}`, () => {
        expect(checkWorkflow(workflow, { pay: definition })).toEqual([
          expect.objectContaining({
            severity: "error",
            code: "SCHEMA_INVALID",
            pointer: `/nodeDefinitions/pay/${option}`,
            message: expect.stringContaining("newer version"),
          }),
        ]);
      });
    }

  it("does not hide a JSON Schema with absent members, symbols, shared parts or a part that holds itself", () => {
    const part: Record<string, unknown> = { type: "number", description: undefined };
    const schema = { type: "object", properties: { amount: part, other: part }, [Symbol("kind")]: () => undefined };
    const circle = { type: "object", properties: { amount: { type: "number" } }, self: {} as unknown };
    circle.self = circle;
    for (const input of [schema, circle, true])
      expect(() => defineNode({ input: input as never, executor: () => ({ data: 1 }) })).not.toThrow();
  });
});

describe("a function that checks", () => {
  for (const [name, { parse }] of Object.entries(old)) {
    const pay = defineNode({ input: parse, executor: ({ amount, note }) => ({ data: `${amount * 2} ${note}` }) });

    it(`is taken as a schema, with its defaults: ${name}`, async () => {
      expect(await engineOf(pay as NodeDefinition).execute({ input: { amount: 4 } })).toMatchObject({
        status: "completed",
        output: "8 none",
      });
    });

    it(`tells the place of a mistake: ${name}`, async () => {
      const snapshot = await engineOf(pay as NodeDefinition).execute({ input: { amount: "four" } });
      expect(snapshot).toMatchObject({ status: "failed", error: { code: "DATA_INVALID", message: expect.stringContaining("/amount: ") } });
    });
  }

  const refusing: readonly (readonly [string, (data: unknown) => unknown, string])[] = [
    [
      "an error without issues",
      () => {
        throw new Error("no good");
      },
      "/: no good",
    ],
    [
      "a rejection",
      async () => {
        throw new Error("no good");
      },
      "/: no good",
    ],
    [
      "issues that are none",
      () => {
        throw Object.assign(new Error("no good"), { issues: [null] });
      },
      "/: no good",
    ],
    [
      "no issue at all",
      () => {
        throw Object.assign(new Error("no good"), { issues: [] });
      },
      "/: no good",
    ],
    [
      "something that is no error",
      () => {
        throw "no good";
      },
      "no good",
    ],
    [
      "a class",
      class {
        readonly amount = 1;
      } as never,
      "Class constructor",
    ],
  ];
  it.each(refusing)("refuses the data: %s", async (_, input, message) => {
    const pay = { input, executor: () => ({ data: 1 }) } as NodeDefinition;
    expect(await engineOf(pay).execute({ input: { amount: 4 } })).toMatchObject({
      status: "failed",
      error: { code: "DATA_INVALID", message: expect.stringContaining(message) },
    });
  });

  it("may write into the data, which is a copy for it", async () => {
    const input = (data: unknown): { amount: number } => Object.assign(data as { amount: number }, { amount: 9 });
    const pay = defineNode({ input, executor: async ({ amount }) => ({ data: amount }) });
    expect(await engineOf(pay as NodeDefinition).execute({ input: { amount: 4 } })).toMatchObject({ output: 9 });
  });

  it("checks constant data, output and answers too", async () => {
    const receipt = z3.object({ receipt: z3.string().toUpperCase() });
    const answer = z3.object({ approved: z3.boolean(), note: z3.string().default("none") });
    const pay = defineNode({
      output: (value) => receipt.parse(value),
      resume: async (value) => await answer.parseAsync(value),
      executor: (_, step) => (step.externalPayload ? { data: { receipt: step.externalPayload.note } } : step.suspend()),
    });
    const engine = engineOf(pay as NodeDefinition);
    const paused = await engine.execute({ input: { amount: 4 } });
    await expect(engine.execute({ snapshot: paused, externalPayload: { approved: "yes" } })).rejects.toMatchObject({
      code: "RESUME_INVALID",
    });
    expect(await engine.execute({ snapshot: paused, externalPayload: { approved: true } })).toMatchObject({ output: { receipt: "NONE" } });
    const constant = { ...workflow, nodes: [{ id: "n", type: "pay", data: { amount: "four" } }] };
    const typed = defineNode({ input: (data) => zodOrder.parse(data), executor: () => ({ data: 1 }) });
    expect(checkWorkflow(constant, { pay: typed as NodeDefinition })).toEqual([
      expect.objectContaining({ code: "DATA_INVALID", pointer: "/nodes/0/data/amount" }),
    ]);
  });

  it("stands beside functions that are Standard Schemas", async () => {
    const callable = Object.assign(
      () => {
        throw new Error("called as a function");
      },
      { "~standard": z.object({ amount: z.number() })["~standard"] },
    );
    const pay = { input: callable, executor: () => ({ data: 1 }) } as unknown as NodeDefinition;
    expect(await engineOf(pay).execute({ input: { amount: 4 } })).toMatchObject({ status: "completed" });
  });
});
