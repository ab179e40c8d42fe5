import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { waits } from "../../../src/core/explain/waits.ts";
import type { Event } from "../../../src/core/snapshot/event.ts";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { defaultLimits } from "../../../src/core/values/limits.ts";
import { decide } from "../../../src/engine/commands/command.ts";
import type { NodeDefinition } from "../../../src/engine/node/node-definition.ts";
import { prepareWorkflow } from "../../../src/engine/workflow/prepared-workflow.ts";
import { asking, engineOf, flowOf, viaJson } from "../engine.fixture.ts";

/** Makes an execution that waits at a node with this payload schema. `answer` takes a payload in a process without the node's code. */
async function askedWith(
  resume: unknown,
  executor = asking("p"),
): Promise<{ paused: Snapshot; answer: (payload: unknown) => Promise<Event> }> {
  const { engine } = engineOf({ a: { resume: resume as never, executor } });
  const paused = viaJson(await engine.execute({}));
  const hands = prepareWorkflow(flowOf({ a: executor }), {}, defaultLimits, undefined, { withoutCode: true });
  return { paused, answer: (payload) => decide(hands, paused, { type: "resume", payload }, 5_000, defaultLimits) };
}
const object = { type: "object", properties: { amount: { type: "integer", minimum: 1 } }, required: ["amount"] };

describe("the payload schema of a node type", () => {
  it.each<[string, unknown]>([
    ["JSON Schema", object],
    [
      "zod",
      z.object({
        amount: z
          .int()
          .min(1)
          .refine((amount) => amount % 2 === 0, "must be even"),
      }),
    ],
    [
      "zod, which transforms",
      z.object({
        amount: z
          .int()
          .min(1)
          .transform((amount) => new Date(amount)),
      }),
    ],
    ["arktype", type({ amount: "number.integer >= 1" })],
  ])("of %s travels with the execution: who lacks the code is told what to answer, and checks it", async (_, schema) => {
    const { paused, answer } = await askedWith(schema);
    const [wait] = waits(paused);
    expect(wait?.schema).toMatchObject({ type: "object", properties: { amount: { type: "integer", minimum: 1 } } });
    expect(wait).not.toHaveProperty("needsCode");
    expect(JSON.stringify(paused.activePaths)).not.toContain("minimum");
    await expect(answer({ amount: 0 })).rejects.toMatchObject({ code: "RESUME_INVALID", details: { nodeId: "a" } });
    await expect(answer(undefined)).rejects.toMatchObject({ code: "RESUME_INVALID" });
    expect(await answer({ amount: 3 })).toMatchObject({ type: "resumed", payload: { amount: 3 } });
  });

  const circle: Record<string, unknown> = { type: "object" };
  circle.properties = { circle };
  it.each<[string, unknown]>([
    ["valibot, which gives no JSON Schema of itself", v.object({ amount: v.number() })],
    ["a date, for which JSON Schema has no words", z.object({ at: z.date() })],
    ["a pattern that cannot be held against text in linear time", z.object({ name: z.string().regex(/(a|b)\1/) })],
    ["more than 64 KiB", z.enum(Array.from({ length: 10_000 }, (_, i) => `name ${i}`) as [string])],
    ["something that says nonsense", standard(() => "object")],
    ["something that leads to itself", standard(() => circle)],
    ["something that throws", standard(() => JSON.parse("{"))],
  ])("of %s needs the code, and nobody can answer without it", async (_, schema) => {
    const { paused, answer } = await askedWith(schema);
    expect(waits(paused)).toMatchObject([{ needsCode: true }]);
    expect(paused).not.toHaveProperty("schemas");
    await expect(answer({})).rejects.toMatchObject({
      code: "CODE_NEEDED",
      details: { workflowId: paused.workflowId, nodeId: "a", type: "a-type" },
    });
  });

  it.each<[boolean, string | undefined]>([
    [true, undefined],
    [false, "RESUME_INVALID"],
  ])("may be %s", async (schema, code) => {
    const { answer } = await askedWith(schema);
    if (code) await expect(answer(7)).rejects.toMatchObject({ code });
    else expect(await answer(7)).toMatchObject({ payload: 7 });
  });

  it("does not count where the wait has one of its own", async () => {
    const { paused, answer } = await askedWith(v.object({ amount: v.number() }), asking("p", { schema: object }));
    expect(waits(paused)[0]).not.toHaveProperty("needsCode");
    await expect(answer({ amount: 0 })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    expect(await answer({ amount: 3 })).toMatchObject({ type: "resumed" });
  });

  it("takes any answer where its type has no schema for answers", async () => {
    const { paused, answer } = await askedWith(undefined);
    expect(waits(paused)[0]).not.toHaveProperty("schema");
    expect(await answer([1])).toMatchObject({ payload: [1] });
  });

  it("is written once, by however many steps it is waited for", async () => {
    const large = { ...object, description: "d".repeat(3_000) };
    const { engine } = engineOf(
      {
        start: () => ({ data: null }),
        a: { resume: large, executor: asking("p") },
        b: { resume: large, executor: asking("p") },
      },
      ["start>a", "start>b", "a>a"],
    );
    let paused = await engine.execute({ initialNodeId: "start" });
    expect(Object.keys(paused.schemas ?? {})).toHaveLength(1);
    const { sizeBytes } = paused;
    for (let round = 0; round < 5; round++)
      paused = await engine.execute({ snapshot: viaJson(paused), target: "a", externalPayload: { amount: 1 } });
    expect(paused.sizeBytes - sizeBytes).toBeLessThan(1_000);
    expect(JSON.stringify(paused).split("d".repeat(3_000))).toHaveLength(2);
  });

  it("comes from a hostile definition or snapshot, and its work is bounded all the same", async () => {
    const { paused } = await askedWith(object);
    const [id] = Object.keys(paused.schemas!);
    const hands = prepareWorkflow(flowOf({ a: asking() }), {}, defaultLimits, undefined, { withoutCode: true });
    const answer = (schema: unknown, payload: unknown): Promise<Event> =>
      decide(hands, { ...paused, schemas: { [id!]: schema as never } }, { type: "resume", payload }, 5_000, {
        ...defaultLimits,
        schemaWork: 10_000,
      });
    const twice = { $defs: { a: { allOf: [{ items: { $ref: "#/$defs/a" } }, { items: { $ref: "#/$defs/a" } }] } }, $ref: "#/$defs/a" };
    const deep = JSON.parse(`${"[".repeat(40)}1${"]".repeat(40)}`) as unknown;
    await expect(answer(twice, deep)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", details: { limit: "schemaWork" } });
    await expect(answer({ pattern: "(a+)+\\1" }, "a")).rejects.toMatchObject({ code: "RESUME_INVALID" });
  });
});

describe("a step that is undone, and asks before that", () => {
  it("is answered by what the type of its compensation says, also inside of a child", async () => {
    const undo = { resume: object, executor: asking("refund?") };
    const code = {
      each: { executor: () => ({ __children: { workflow: "item", map: { items: [1] } } }) },
      fail: () => Promise.reject(new TypeError("no luck")),
      pay: { resume: v.object({ card: v.string() }), executor: () => ({ data: "paid" }) },
      refund: undo,
    };
    const item = { id: "item", nodes: [{ id: "pay", type: "pay-type", compensate: { type: "refund-type" } }], edges: [] };
    const { engine } = engineOf(code, ["each>fail"], { rest: { start: "each", workflows: { item } } });
    const failing = viaJson(await engine.execute({}));
    const [wait] = waits(failing);
    expect(wait).toMatchObject({ nodeId: "pay", schema: object });
    for (const nodes of [{}, { "refund-type": undo, "pay-type": code.pay }] as object[]) {
      const hands = prepareWorkflow(engine.workflow.definition, nodes as never, defaultLimits, undefined, { withoutCode: true });
      const answer = (payload: unknown): Promise<Event> => decide(hands, failing, { type: "resume", payload }, 5_000, defaultLimits);
      await expect(answer({ card: "x" })).rejects.toMatchObject({ code: "RESUME_INVALID" });
      expect(await answer({ amount: 1 })).toMatchObject({ type: "resumed" });
    }
  });
});

describe("the code of a node that refuses what its JSON Schema let through", () => {
  const even = z.object({ amount: z.int().refine((amount) => amount % 2 === 0, "must be even, sk-secret-0123456789") });

  /** Sends an answer through an engine that does not have the schema's code, then executes the snapshot with an engine that has it. */
  async function driven(schema: unknown, payload: unknown, executor = asking("p")) {
    const { engine } = engineOf({ a: { resume: schema as NodeDefinition["resume"], executor } }, [], {});
    const paused = await engine.execute({ globals: { apiKey: "sk-secret-0123456789" } as never });
    const hands = engineOf({ a: { executor } }).engine;
    const answered = await hands.send(viaJson(paused), { type: "resume", payload, by: "ada" });
    return { engine, after: await engine.execute({ snapshot: viaJson(answered), globals: { apiKey: "sk-secret-0123456789" } as never }) };
  }

  it("opens the wait again, without calling the executor, and shows no secret", async () => {
    let calls = 0;
    const { engine, after } = await driven(even, { amount: 3 }, (data, step) => {
      calls++;
      return asking("p")(data, step);
    });
    expect(calls).toBe(1);
    const [wait] = waits(after);
    expect(wait).toMatchObject({ id: "0@4", payload: "p", refused: { who: "ada", issues: [{ pointer: "/amount" }] } });
    expect(JSON.stringify(after)).not.toContain("sk-secret-0123456789");
    expect(after.steps).toBe(2);
    const end = await engine.execute({ snapshot: viaJson(after), externalPayload: { amount: 4 } });
    expect(end).toMatchObject({ status: "completed", output: { payload: { amount: 4 } } });
  });

  it("keeps no more of its reasons than is of use", async () => {
    const talkative = standard(
      () => ({}),
      () => ({
        issues: Array.from({ length: 50 }, () => ({
          message: "\u{1F600}".repeat(1_000),
          path: Array.from({ length: 5 }, () => "x".repeat(99)),
        })),
      }),
    );
    const { after } = await driven(talkative, { amount: 3 });
    const { issues } = waits(after)[0]!.refused!;
    expect(issues.length).toBeLessThanOrEqual(20);
    expect(JSON.stringify(issues).length).toBeLessThan(20_000);
    expect(issues[0]!.message).toHaveLength(500);
    expect(issues[0]!.pointer).toHaveLength(200);
    const silent = standard(
      () => ({}),
      () => ({ issues: [{ message: "" }] }),
    );
    expect(waits((await driven(silent, 1)).after)[0]!.refused!.issues).toEqual([{ pointer: "", message: "is refused" }]);
  });

  it("fails the step where nobody had been waited for", async () => {
    const { engine } = engineOf({ a: { resume: even, executor: asking("p") } });
    const end = await engine.execute({ externalPayload: { amount: 3 } });
    expect(end).toMatchObject({ status: "failed", error: { code: "RESUME_INVALID" } });
  });

  it("tells the executor nothing of what could have opened again", async () => {
    const seen: unknown[] = [];
    await driven(even, { amount: 4 }, (data, step) => {
      seen.push(step.resumed);
      return asking("p")(data, step);
    });
    expect(seen).toEqual([undefined, { by: "payload", payload: { amount: 4 }, suspendPayload: "p", who: "ada" }]);
  });
});

/** A Standard Schema whose JSON Schema is the result of `input`. */
function standard(input: () => unknown, validate: (value: unknown) => unknown = (value) => ({ value })): unknown {
  return { "~standard": { version: 1, vendor: "t", validate, jsonSchema: { input } } };
}
