import { describe, expect, it } from "vitest";
import type { Json, JsonSchema } from "../../../src/core/values/json.ts";
import { defaultLimits } from "../../../src/core/values/limits.ts";
import { CheckBudget } from "../../../src/engine/schema/check-run.ts";
import { compileSchema } from "../../../src/engine/schema/json-schema.ts";
import { prepareStored } from "../../../src/engine/workflow/prepared-workflow.ts";
import { validatorOf } from "../../../src/engine/workflow/validator.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";

const range = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index));
const nested = (depth: number, around: (inner: JsonSchema, level: number) => JsonSchema): JsonSchema => {
  let schema: JsonSchema = {};
  for (let level = depth; level > 0; level--) schema = around(schema, level);
  return schema;
};
const flow = (input: JsonSchema) => ({ id: "w", input, nodes: [{ id: "a", type: "noop" }], edges: [] });
const letters = (size: number): string => `${"a".repeat(size)}!`;

/** Schemas that are costly to check, each with a value, in a given size. */
const hostile: Readonly<Record<string, (size: number) => readonly [JsonSchema, Json]>> = {
  "a pattern of nested repetitions": (size) => [{ pattern: "^(a+)+$" }, letters(size)],
  "a pattern of overlapping repetitions": (size) => [{ pattern: "^a*a*a*a*a*b$" }, letters(size)],
  "a pattern of alternatives that overlap": (size) => [{ pattern: "^(a|aa|a?)*$" }, letters(size)],
  "a pattern that looks ahead everywhere": (size) => [{ pattern: "(?=.*b)(?=.*c).*" }, letters(size)],
  "a pattern for names of members": (size) => [{ patternProperties: { "^(a+)+$": true } }, { [letters(size)]: 1 }],
  "names that must match": (size) => [{ propertyNames: { pattern: "(x+x+)+y" } }, { ["x".repeat(size)]: 1 }],
  "the format url": (size) => [{ format: "url" }, `http://${letters(size)}`],
  "the format email": (size) => [{ format: "email" }, `${"a.".repeat(size)}@${letters(size)}`],
  "the format uri": (size) => [{ format: "uri" }, `http://${"a:".repeat(size)}[`],
  "the format uri-template": (size) => [{ format: "uri-template" }, "{a".repeat(size)],
  "references, two from each to the next": (size) => [
    {
      $ref: "#/$defs/0",
      $defs: Object.fromEntries(
        range(size, (i) => [i, i === size - 1 ? true : { allOf: [{ $ref: `#/$defs/${i + 1}` }, { $ref: `#/$defs/${i + 1}` }] }]),
      ),
    },
    1,
  ],
  "references, two dynamic ones from each to the next": (size) => [
    {
      $dynamicRef: "#n0",
      $defs: Object.fromEntries(
        range(size, (i) => [
          i,
          { $dynamicAnchor: `n${i}`, anyOf: range(2, () => (i === size - 1 ? false : { $dynamicRef: `#n${i + 1}` })) },
        ]),
      ),
    },
    1,
  ],
  "ids inside each other": (size) => [nested(size, (inner, level) => ({ $id: `https://x.example/s${level}`, not: inner })), 1],
  "a reference to itself": (size) => [{ $ref: "#", title: "x".repeat(size) }, 1],
  "a long way of references": (size) => [
    { $ref: "#/$defs/0", $defs: Object.fromEntries(range(size, (i) => [i, i === size - 1 ? true : { $ref: `#/$defs/${i + 1}` }])) },
    1,
  ],
  "lists that must be unique": (size) => [{ uniqueItems: true }, range(size, (i) => [1e6 + i, { a: 1e6 + i }])],
  "objects that must be unique, inside each other": (size) => [
    { uniqueItems: true, items: { $ref: "#" } },
    range(size, (i) => [[[[1e6 + i]]]]),
  ],
  "many values that are allowed": (size) => [{ items: { enum: range(size, (i) => [i]) } }, range(size, (i) => [-1e6 - i])],
  "many alternatives for many items": (size) => [{ items: { anyOf: range(size, (i) => ({ const: i })) } }, range(size, (i) => -1e6 - i)],
  "many members that are asked for, of many objects": (size) => [
    { items: { required: range(size, (i) => `k${i}`) } },
    range(size, () => ({})),
  ],
  "many properties, of many objects": (size) => [
    { items: { properties: Object.fromEntries(range(size, (i) => [`k${i}`, true])), additionalProperties: false } },
    range(size, (i) => ({ [`x${i}`]: 1 })),
  ],
  "many patterns for many members": (size) => [
    { patternProperties: Object.fromEntries(range(size, (i) => [`^a${i}$`, true])) },
    Object.fromEntries(range(size, (i) => [`b${i}`, 1])),
  ],
  "members that nobody has looked at": (size) => [
    { allOf: range(size, () => ({ properties: { a: true } })), unevaluatedProperties: false },
    Object.fromEntries(range(size, (i) => [`b${i}`, 1])),
  ],
};

/** Returns the cost of a check and its end: the code of an error, "fits" or "does not fit". */
function costOf([schema, value]: readonly [JsonSchema, Json], max = defaultLimits.schemaWork): { spent: number; end: string } {
  const budget = new CheckBudget({ ...defaultLimits, schemaWork: max });
  const { mistakes, check } = compileSchema(schema);
  if (mistakes.length > 0) return { spent: 0, end: "SCHEMA_INVALID" };
  try {
    return { end: check(value, budget).length === 0 ? "fits" : "does not fit", spent: budget.spent };
  } catch (error) {
    return { end: (error as { code: string }).code, spent: budget.spent };
  }
}

describe("F1: a JSON Schema that was made to cost much", () => {
  it.each(Object.keys(hostile))("ends in an answer or in the limit's error: %s", (name) => {
    const { spent, end } = costOf(hostile[name]!(2_000));
    expect(["fits", "does not fit", "LIMIT_EXCEEDED", "SCHEMA_INVALID", "OPTION_INVALID"]).toContain(end);
    // the unit of work that exceeds the limit may cost as much as one whole text
    expect(spent).toBeLessThan(1.1 * defaultLimits.schemaWork);
  });

  it.each(Object.keys(hostile))("costs at most 2.2 times as much for twice the size, up to the limit: %s", (name) => {
    for (let size = 125; size < 2_000; size *= 2) {
      const [small, large] = [costOf(hostile[name]!(size), 500_000), costOf(hostile[name]!(2 * size), 500_000)];
      const isBounded = ["LIMIT_EXCEEDED", "SCHEMA_INVALID", "OPTION_INVALID"].includes(large.end);
      // some schemas cost the product of the sizes of schema and value; the limit ends them after about 15 ms
      const isProduct = name.startsWith("many ") || name.startsWith("members ");
      if (!isBounded && !isProduct) expect(large.spent).toBeLessThanOrEqual(2.2 * small.spent + 100);
    }
  });

  it("is told with what to do about it", async () => {
    const engine = new WorkflowEngine({
      workflow: flow({ items: { required: range(1_000, (i) => `k${i}`) } }),
      nodeDefinitions: builtinNodes,
      limits: { schemaWork: 10_000 },
    });
    await expect(engine.execute({ input: range(100, () => ({})) })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      message: expect.stringMatching(/^The check against a JSON Schema exceeds the limit "schemaWork": \d+, at most 10000/),
    });
  });

  it("counts all items of a map together", async () => {
    const inner = { ...flow({ required: range(1_000, (i) => `k${i}`).slice(0, 0), enum: [{}], maxProperties: 5 }), id: "inner" };
    const engine = (schemaWork: number) =>
      new WorkflowEngine({
        workflow: {
          id: "w",
          nodes: [{ id: "m", type: "map", data: { workflow: "inner", items: "{{ input }}" } }],
          edges: [],
          workflows: { inner },
        },
        nodeDefinitions: builtinNodes,
        limits: { schemaWork },
      });
    const input = range(100, () => ({}));
    expect((await engine(10_000).execute({ input })).status).toBe("completed");
    expect((await engine(200).execute({ input })).error).toMatchObject({ code: "LIMIT_EXCEEDED" });
  });

  it.each<[string, JsonSchema, string]>([
    ["a pattern that is none", { pattern: "(" }, "/input/pattern: is no pattern"],
    ["a pattern that refers back", { properties: { a: { pattern: "(a)\\1" } } }, "/input/properties/a/pattern: refers back to a group"],
    ["a pattern that takes too many steps", { pattern: "((a{100}){100}){100}" }, "/input/pattern: repeats so much"],
    ["patterns that take too many steps together", { allOf: range(20, (i) => ({ pattern: `${i}a{4000}` })) }, "together they have more"],
    ["a reference to nowhere", { $ref: "#/nowhere" }, "/input/$ref: leads nowhere"],
    ["a reference to a server", { $ref: "https://json-schema.org/draft/2020-12/schema" }, "/input/$ref: leads nowhere"],
    ["a type that is none", { type: "int" }, "/input/type: must be one of null, boolean"],
    ["what is no schema", { properties: { a: 5 } }, "/input/properties/a: must be a schema"],
    ["one id twice", { $defs: { a: { $id: "x" }, b: { $id: "x" } } }, "is the id of two schemas"],
  ])("is refused where it is handed over, and what is stored still loads: %s", async (_, input, message) => {
    expect(() => new WorkflowEngine({ workflow: flow(input), nodeDefinitions: builtinNodes })).toThrow(
      expect.objectContaining({ code: "DEFINITION_INVALID", message: expect.stringContaining(message) }),
    );
    const { compiled } = prepareStored(flow(input), builtinNodes, defaultLimits);
    expect(await validatorOf(compiled.definition.input!)("x", new CheckBudget(defaultLimits))).toMatchObject({
      issues: [{ pointer: "", message: expect.stringMatching(/^cannot be checked: the schema at \//) }],
    });
  });

  it("is refused where a node type brings it", () => {
    const nodeDefinitions = { mine: { resume: { pattern: "(" }, executor: () => ({ data: 1 }) } };
    const workflow = { id: "w", nodes: [{ id: "a", type: "mine", compensate: { type: "mine" } }], edges: [] };
    expect(() => new WorkflowEngine({ workflow, nodeDefinitions })).toThrow(/\/nodeDefinitions\/mine\/resume\/pattern: is no pattern/);
  });

  it("is refused where an expression gives it, and answers to a hostile one end", async () => {
    const approval = { id: "w", nodes: [{ id: "ok", type: "approval", data: { schema: "{{ input.schema }}" } }], edges: [] };
    const engine = new WorkflowEngine({ workflow: approval, nodeDefinitions: builtinNodes });
    const refused = await engine.execute({ input: { schema: { pattern: "(a)\\1" } } });
    expect(refused.error).toMatchObject({ code: "OPTION_INVALID", message: expect.stringContaining("refers back to a group") });
    const waiting = await engine.execute({ input: { schema: { properties: { a: { pattern: "^(a+)+$" } }, required: ["a"] } } });
    const answer = (a: string) => engine.execute({ snapshot: waiting, externalPayload: { approved: true, a } });
    await expect(answer(letters(100_000))).rejects.toMatchObject({
      code: "RESUME_INVALID",
      message: expect.stringContaining('/a: does not match the pattern "^(a+)+$"'),
    });
    expect((await answer("aaa")).status).toBe("completed");
  });

  it("is bounded where somebody has written it into a row", async () => {
    const approval = { id: "w", nodes: [{ id: "ok", type: "approval" }], edges: [] };
    const engine = new WorkflowEngine({ workflow: approval, nodeDefinitions: builtinNodes });
    const text = JSON.stringify(await engine.execute({}));
    const snapshot = JSON.parse(text) as { activePaths: { waits: { schema?: unknown }[] }[] };
    snapshot.activePaths[0]!.waits[0]!.schema = hostile["references, two from each to the next"]!(30)[0];
    await expect(engine.execute({ snapshot, externalPayload: { approved: true } })).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  });

  it("lists at most so many mistakes of a value", async () => {
    const engine = new WorkflowEngine({ workflow: flow({ items: { type: "string" } }), nodeDefinitions: builtinNodes });
    const error = await engine.execute({ input: range(5_000, (i) => i) }).catch((thrown: unknown) => thrown);
    expect((error as { details: { issues: unknown[] } }).details.issues).toHaveLength(defaultLimits.issues);
  });
});
