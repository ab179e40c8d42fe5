import { describe, expect, it, vi } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { Json, JsonSchema } from "../../src/core/values/json.ts";
import { defaultLimits } from "../../src/core/values/limits.ts";
import { CheckBudget } from "../../src/engine/schema/check-run.ts";
import { compileSchema } from "../../src/engine/schema/json-schema.ts";
import { validatorOf } from "../../src/engine/workflow/validator.ts";
import { compileTemplate } from "../../src/expressions/compile-template.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { createRuntime } from "../../src/runtime/index.ts";
import { memoryStore } from "../../src/stores/databases/memory/index.ts";
import { answerLinks } from "../../src/webhooks/index.ts";
import { bench } from "../nodes/workflow.fixture.ts";

// What a caller sends is never told back to him, or to a log, at a larger size.

const longKey = "k".repeat(900_000);
const sizeOf = (value: unknown): number => JSON.stringify(value).length;
const most = 12_000;

describe("the pointer of an issue is written only for issues that are returned", () => {
  const items = (inner: JsonSchema): JsonSchema => ({ additionalProperties: { type: "array", items: inner } });
  it.each<[string, JsonSchema]>([
    ["anyOf", items({ anyOf: [{ type: "string" }, { type: "number" }] })],
    ["oneOf", items({ oneOf: [{ type: "string" }, { type: "number" }, { type: "array" }] })],
    ["not", items({ not: { type: "string" } })],
    ["if", items({ if: { type: "string" } })],
    ["contains", { additionalProperties: { contains: { type: "number" } } }],
  ])("%s", (_, schema) => {
    const value: Json = { [longKey]: Array.from({ length: 2_000 }, () => 1) };
    const { check } = compileSchema(schema);
    const escaped = vi.spyOn(String.prototype, "replaceAll");
    try {
      expect(check(value, new CheckBudget(defaultLimits))).toEqual([]);
      expect(escaped).not.toHaveBeenCalled();
    } finally {
      escaped.mockRestore();
    }
  });
});

describe("issues about a value are bounded together", () => {
  const strict: JsonSchema = { type: "object", additionalProperties: { type: "array", items: { type: "string" } } };
  const hostile: Json = { [longKey]: Array.from({ length: 200 }, () => 0) };
  const deep = Array.from({ length: 60 }).reduce<Json>((inner, _, i) => ({ [`${i}`.repeat(100)]: inner }), [0, 0, 0]);

  it("of a JSON Schema: keys in pointers are cut", () => {
    const { issues } = validatorOf(strict)(hostile, new CheckBudget(defaultLimits));
    expect(issues!.length).toBeGreaterThan(20);
    expect(issues![0]!.pointer).toBe(`/${"k".repeat(99)}…/0`);
    expect(sizeOf(issues)).toBeLessThan(most);
    expect(issues!.at(-1)).toEqual({ pointer: "", message: "has more mistakes, which are not listed" });
    const recursive: JsonSchema = { type: ["object", "array"], items: false, additionalProperties: { $ref: "#" } };
    expect(sizeOf(validatorOf(recursive)(deep, new CheckBudget(defaultLimits)).issues)).toBeLessThan(most);
  });

  it("of code, which may report as much as it likes", async () => {
    const many = Array.from({ length: 5_000 }, (_, i) => ({ message: `${i}`.repeat(10_000), path: [longKey, i] }));
    const standard = { "~standard": { version: 1 as const, vendor: "test", validate: () => ({ issues: many }) } };
    const thrown = (): never => {
      throw Object.assign(new Error("no"), { issues: many });
    };
    for (const schema of [standard, thrown]) {
      const { issues } = await validatorOf(schema)({}, new CheckBudget(defaultLimits));
      expect(issues!.length).toBeGreaterThan(5);
      expect(sizeOf(issues)).toBeLessThan(most);
    }
  });

  it("of an input, in the error and in its details", async () => {
    const { engine } = bench({ id: "w", input: strict, nodes: [{ id: "n", type: "noop" }], edges: [] });
    const error = await engine.execute({ input: hostile }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(StepfoldError.is(error, "INPUT_INVALID") && sizeOf(error)).toBeLessThan(2 * most);
  });

  it("of an answer, to a link and to a caller", async () => {
    const schema: JsonSchema = { type: "object", additionalProperties: { type: ["array", "boolean"], items: { type: "string" } } };
    const ask = { id: "n", type: "approval", data: { title: "t", schema } };
    const runtime = createRuntime({
      store: memoryStore(),
      nodeDefinitions: builtinNodes,
      workflows: [{ id: "w", nodes: [ask], edges: [] }],
    });
    const run = await runtime.start("w", { workflowId: "x" });
    const links = answerLinks(runtime, { keys: [{ id: "k", secret: new Uint8Array(32).fill(7) }] });
    const waitId = (await run.waitFor({ step: "n" })).id;
    const token = await links.create({ workflowId: "x", waitId });
    const body = JSON.stringify({ approved: true, ...(hostile as object) });
    const response = await links.fetch(new Request(`http://h/${token}`, { method: "POST", body }));
    expect(response.status).toBe(422);
    expect((await response.text()).length).toBeLessThan(most);
    await expect(run.resume({ waitId, payload: { approved: true, ...(hostile as object) } })).rejects.toSatisfy(
      (error) => StepfoldError.is(error, "RESUME_INVALID") && sizeOf(error) < 2 * most,
    );
    await runtime.close();
  });
});

describe("a pointer does not grow with a key", () => {
  it("of a definition, in which it stands before every expression", () => {
    const { issues } = compileTemplate({ [longKey]: ["{{ 1 + }}", "a {{ 2 + }}"] }, "/data");
    expect(issues.map(({ pointer }) => pointer)).toEqual([`/data/${"k".repeat(99)}…/0`, `/data/${"k".repeat(99)}…/1`]);
  });

  it("of a schema, and a reference is not resolved against a long id", () => {
    expect(compileSchema({ properties: { [longKey]: { type: "x" } } }).mistakes[0]!.pointer).toHaveLength(117);
    expect(compileSchema({ $id: `https://example.com/${longKey}`, $ref: "#" }).mistakes).toEqual([
      { pointer: "/$id", message: "must have at most 2000 characters" },
    ]);
  });
});
