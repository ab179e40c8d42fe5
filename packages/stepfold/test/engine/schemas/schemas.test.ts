import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import type { NodeDefinition } from "../../../src/engine/node/node-definition.ts";
import { defineWorkflow } from "../../../src/engine/workflow/define-workflow.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { VirtualEnvironment } from "../virtual-environment.fixture.ts";

/** The same three schemas by each library: an amount that may come as text, a receipt, an approval. */
const libraries: Record<string, { input: unknown; output: unknown; resume: unknown }> = {
  zod: {
    input: z.object({ amount: z.coerce.number().positive(), note: z.string().default("none") }),
    output: z.object({ receipt: z.string().transform((text) => text.toUpperCase()) }),
    resume: z.object({
      approved: z.boolean(),
      at: z
        .string()
        .transform((text) => new Date(text))
        .optional(),
    }),
  },
  valibot: {
    input: v.object({ amount: v.pipe(v.unknown(), v.transform(Number), v.number(), v.gtValue(0)), note: v.optional(v.string(), "none") }),
    output: v.object({ receipt: v.pipe(v.string(), v.toUpperCase()) }),
    resume: v.object({
      approved: v.boolean(),
      at: v.optional(
        v.pipe(
          v.string(),
          v.transform((text) => new Date(text)),
        ),
      ),
    }),
  },
  arktype: {
    input: type({ amount: type("string.numeric.parse |> number > 0").or("number > 0"), note: "string = 'none'" }),
    output: type({ receipt: type("string").pipe((text) => text.toUpperCase()) }),
    resume: type({ approved: "boolean", "at?": "string.date.parse" }),
  },
  "zod, asynchronous": {
    input: z.object({ amount: z.coerce.number().refine(async (amount) => amount > 0), note: z.string().default("none") }),
    output: z.object({ receipt: z.string().transform(async (text) => text.toUpperCase()) }),
    resume: z.object({
      approved: z.boolean().refine(async () => true),
      at: z
        .string()
        .transform(async (text) => new Date(text))
        .optional(),
    }),
  },
  "valibot, asynchronous": {
    input: v.pipeAsync(
      v.object({ amount: v.pipe(v.unknown(), v.transform(Number), v.number()), note: v.optional(v.string(), "none") }),
      v.checkAsync(async ({ amount }) => amount > 0),
    ),
    output: v.objectAsync({
      receipt: v.pipeAsync(
        v.string(),
        v.transformAsync(async (text) => text.toUpperCase()),
      ),
    }),
    resume: v.objectAsync({
      approved: v.boolean(),
      at: v.optionalAsync(
        v.pipeAsync(
          v.string(),
          v.transformAsync(async (text) => new Date(text)),
        ),
      ),
    }),
  },
};

interface Charged {
  readonly amount: number;
  readonly note: string;
}

function engineWith(schemas: object, executor: NodeDefinition["executor"], data: unknown) {
  const seen: unknown[] = [];
  const charge = {
    ...schemas,
    executor: (data: unknown, step: never) => {
      seen.push(data, (step as { externalPayload?: unknown }).externalPayload);
      return executor(data, step);
    },
  } as NodeDefinition;
  const workflow = defineWorkflow({ id: "flow", nodes: [{ id: "charge", type: "charge", data: data as never }], edges: [] });
  return { engine: new WorkflowEngine({ workflow, nodeDefinitions: { charge }, environment: new VirtualEnvironment() }), seen };
}

describe.each(Object.entries(libraries))("schemas of %s", (_, schemas) => {
  const ask: NodeDefinition["executor"] = (_data, step) => (step.resumed ? { data: { receipt: "abc" } } : step.suspend("ok?"));

  it("check and transform data, payload and output", async () => {
    const { engine, seen } = engineWith(schemas, ask, { amount: "{{ input.amount }}" });
    const paused = await engine.execute({ input: { amount: "12" } });
    expect(paused.status).toBe("paused");
    const end = await engine.execute({
      snapshot: JSON.parse(JSON.stringify(paused)) as object,
      externalPayload: { approved: true, at: "2026-01-02T00:00:00.000Z" },
    });
    expect(end).toMatchObject({ status: "completed", output: { receipt: "ABC" } });
    expect(seen).toEqual([
      { amount: 12, note: "none" },
      undefined,
      { amount: 12, note: "none" },
      { approved: true, at: new Date("2026-01-02T00:00:00.000Z") },
    ]);
  });

  it("fail the node on data that does not fit, and never retry it", async () => {
    const { engine } = engineWith({ ...schemas, retryPolicy: { maxAttempts: 3, interval: 1, backoff: "fixed" } }, ask, {
      amount: "{{ input.amount }}",
    });
    const snapshot = await engine.execute({ input: { amount: "-5" } });
    expect(snapshot).toMatchObject({
      status: "failed",
      error: { code: "DATA_INVALID", message: expect.stringContaining('The data of node "charge"') },
    });
  });

  it("fail the node on output that does not fit", async () => {
    const { engine } = engineWith({ output: schemas.output }, () => ({ data: { receipt: 5 } }), null);
    expect(await engine.execute({})).toMatchObject({
      status: "failed",
      error: { code: "OUTPUT_INVALID", message: expect.stringContaining("/receipt") },
    });
  });

  it("refuse a payload that does not fit, and nothing has changed", async () => {
    const { engine } = engineWith(schemas, ask, { amount: "{{ 5 }}" });
    const paused = await engine.execute({});
    await expect(engine.execute({ snapshot: paused, externalPayload: { approved: "yes" } })).rejects.toMatchObject({
      code: "RESUME_INVALID",
      details: { nodeId: "charge", issues: [expect.objectContaining({ pointer: "/approved" })] },
    });
    await expect(engine.send(paused, { type: "resume" })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    expect(await engine.execute({ snapshot: paused })).toBe(paused);
  });
});

describe("constant data", () => {
  it("is refused when the engine is made, at its place in the definition", () => {
    for (const library of ["zod", "valibot", "arktype"]) {
      expect(() => engineWith(libraries[library]!, () => ({ data: 1 }), { amount: -5 })).toThrow(/\/nodes\/0\/data\/amount/);
    }
  });

  it("is checked when the node runs, where the schema needs time", async () => {
    const { engine } = engineWith(libraries["zod, asynchronous"]!, () => ({ data: { receipt: "x" } }), { amount: -5 });
    expect((await engine.execute({})).error?.code).toBe("DATA_INVALID");
    const rejecting = { "~standard": { version: 1, vendor: "t", validate: () => Promise.reject(new Error("no connection")) } };
    const { engine: other } = engineWith({ input: rejecting }, () => ({ data: 1 }), 5);
    expect((await other.execute({})).error?.message).toBe("no connection");
  });

  it("that cannot even be checked is refused", () => {
    const throwing = {
      "~standard": {
        version: 1,
        vendor: "t",
        validate: () => {
          throw new RangeError("out of reach");
        },
      },
    };
    expect(() => engineWith({ input: throwing }, () => ({ data: 1 }), 5)).toThrow(/\/nodes\/0\/data: cannot be checked: out of reach/);
  });

  it("points into the value by whatever kind of path the library gives", async () => {
    const issues = [{ message: "a", path: ["x", 0, { key: "y/z" }, Symbol("s")] }, { message: "b" }];
    const schema = { "~standard": { version: 1, vendor: "t", validate: () => ({ issues }) } };
    const { engine } = engineWith({ output: schema }, () => ({ data: 1 }), null);
    expect((await engine.execute({})).error?.message).toContain("\n  /x/0/y~1z/Symbol(s): a\n  /: b");
  });
});

describe("JSON Schemas", () => {
  const integer = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };

  it("check data, output and payload", async () => {
    const { engine, seen } = engineWith(
      { input: integer, output: integer, resume: integer },
      (_data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend()),
      { n: "{{ input.n }}" },
    );
    const paused = await engine.execute({ input: { n: 5 } });
    await expect(engine.execute({ snapshot: paused, externalPayload: { n: "x" } })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    expect(await engine.execute({ snapshot: paused })).toBe(paused);
    expect(await engine.execute({ snapshot: paused, externalPayload: { n: 7 } })).toMatchObject({ status: "completed", output: { n: 7 } });
    expect(seen[0]).toEqual({ n: 5 });
    expect((await engine.execute({ input: { n: "x" } })).error?.code).toBe("DATA_INVALID");
  });

  it("describe what is kept: a Date is text, and what returned nothing is null", async () => {
    const text = { type: "object", properties: { at: { type: "string", format: "date-time" } } };
    const { engine } = engineWith({ output: text }, () => ({ data: { at: new Date(0), none: undefined } }), null);
    expect(await engine.execute({})).toMatchObject({ status: "completed", output: { at: "1970-01-01T00:00:00.000Z" } });
    const { engine: nothing } = engineWith({ output: { type: "null" } }, () => ({ data: undefined }), null);
    expect(await nothing.execute({})).toMatchObject({ status: "completed", output: null });
  });

  it("say of what is no JSON what normalising would say", async () => {
    const { engine } = engineWith({ output: { type: "object" } }, () => ({ data: { a: { b: 1n } } }), null);
    expect((await engine.execute({})).error).toMatchObject({ code: "VALUE_NOT_JSON", message: expect.stringContaining("/a/b") });
    const cyclic: { self?: unknown } = {};
    cyclic.self = cyclic;
    const { engine: circle } = engineWith(
      { output: { type: "object", properties: { self: { $ref: "#" } } } },
      () => ({ data: cyclic }),
      null,
    );
    expect((await circle.execute({})).error?.code).toBe("VALUE_NOT_JSON");
  });

  it("may be true or false, and are left as they are", async () => {
    const schema = Object.freeze({ type: "integer" });
    const { engine } = engineWith({ input: true, output: schema }, () => ({ data: 5 }), 1);
    expect((await engine.execute({})).status).toBe("completed");
    expect(() => engineWith({ input: false }, () => ({ data: 5 }), 1)).toThrow(/no value is allowed here/);
  });
});

describe("defineNode", () => {
  it("gives back what it got", () => {
    const definition = { executor: (data: Charged) => ({ data: data.amount }) };
    expect(defineNode(definition)).toBe(definition);
  });
});
