import { describe, expect, it } from "vitest";
import type { Json, JsonSchema } from "../../core/values/json.ts";
import { defaultLimits } from "../../core/values/limits.ts";
import { CheckBudget } from "./check-run.ts";
import { compileSchema } from "./json-schema.ts";

const issuesOf = (schema: JsonSchema, value: Json): readonly string[] => {
  const { mistakes, check } = compileSchema(schema);
  expect(mistakes).toEqual([]);
  return check(value, new CheckBudget(defaultLimits)).map(({ pointer, message }) => `${pointer}: ${message}`);
};

const tree: JsonSchema = {
  $id: "https://x.example/tree",
  $dynamicAnchor: "node",
  type: "object",
  properties: { value: true, children: { type: "array", items: { $dynamicRef: "#node" } } },
};

/** Schemas, each with values that fit and values that do not fit. */
const cases: readonly (readonly [JsonSchema, good: readonly Json[], bad: readonly Json[]])[] = [
  [true, [1, null, {}], []],
  [false, [], [1, null]],
  [{ type: "integer" }, [1, 1.0, -0], [1.5, "1", null]],
  [{ type: ["string", "null"] }, ["", null], [1, [], {}]],
  [{ const: { a: [1, 2] } }, [{ a: [1, 2] }], [{ a: [2, 1] }, { a: [1, 2], b: 1 }]],
  [{ enum: [1, "1", { a: 1, b: 2 }, [null]] }, [1, "1", { b: 2, a: 1 }, [null]], [2, { a: 1 }, [], true]],
  [{ minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, "x"], [0.9, 3]],
  [{ exclusiveMinimum: 1, maximum: 3 }, [1.1, 3], [1, 3.1]],
  [{ multipleOf: 0.1 }, [0.3, 1e20, 0], [0.35]],
  [{ multipleOf: 1e-8 }, [12391239123, 1e-8], [1.5e-8]],
  [{ minLength: 2, maxLength: 2 }, ["ab", "😀😀", 1], ["a", "😀", "abc"]],
  [{ required: ["a", "toString"] }, [{ a: 1, toString: 1 }, 5], [{ a: 1 }, {}]],
  [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }, []], [{}, { a: 1, b: 1, c: 1 }]],
  [{ minItems: 1, maxItems: 2 }, [[1], {}], [[], [1, 2, 3]]],
  [{ dependentRequired: { a: ["b"] } }, [{}, { a: 1, b: 1 }, { b: 1 }], [{ a: 1 }]],
  [{ propertyNames: { maxLength: 1 } }, [{ a: 1 }, 1], [{ ab: 1 }]],
  [
    { properties: { a: { type: "number" } }, patternProperties: { "^b": { type: "string" } }, additionalProperties: false },
    [{ a: 1, b1: "" }],
    [{ a: "" }, { b: 1 }, { c: 1 }],
  ],
  [{ additionalProperties: { type: "number" } }, [{ a: 1 }], [{ a: "" }]],
  [{ prefixItems: [{ type: "number" }], items: { type: "string" } }, [[], [1, "a"]], [["a"], [1, 2]]],
  [{ items: [{ type: "number" }], additionalItems: false }, [[], [1], ["a"].slice(1)], [["a"], [1, 2]]],
  [{ contains: { type: "number" } }, [[1, "a"]], [[], ["a"]]],
  [{ contains: { type: "number" }, minContains: 0, maxContains: 1 }, [[], [1], ["a"]], [[1, 2]]],
  [
    { uniqueItems: true },
    [
      [1, "1", true, null, [1], ["1"]],
      [{ a: 1 }, { a: 2 }],
    ],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [[], []],
    ],
  ],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2], [0, 3]],
  [{ anyOf: [{ type: "string" }, { minimum: 2 }] }, ["a", 2], [1]],
  [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 5]],
  [{ not: { type: "string" } }, [1], ["a"]],
  [{ if: { type: "number" }, then: { minimum: 1 }, else: { type: "string" } }, [1, "a"], [0, null]],
  [{ dependentSchemas: { a: { required: ["b"] } } }, [{}, { a: 1, b: 1 }, 1], [{ a: 1 }]],
  [
    { dependencies: { a: ["b"], c: { required: ["d"] } } },
    [
      { a: 1, b: 1 },
      { c: 1, d: 1 },
    ],
    [{ a: 1 }, { c: 1 }],
  ],
  [{ properties: { a: true }, unevaluatedProperties: false }, [{ a: 1 }], [{ b: 1 }]],
  [
    {
      allOf: [{ properties: { a: true } }],
      anyOf: [{ required: ["b"], properties: { b: true } }, true],
      if: { required: ["c"], properties: { c: true } },
      unevaluatedProperties: { type: "number" },
    },
    [{ a: "" }, { b: "" }, { c: "" }, { d: 1 }],
    [{ d: "" }],
  ],
  [{ prefixItems: [true], contains: { type: "string" }, unevaluatedItems: false }, [["a"], [1, "a"]], [["a", 1]]],
  [{ allOf: [{ items: true }], unevaluatedItems: false }, [[1, 2]], []],
  [{ properties: { next: { $ref: "#" } }, required: ["id"] }, [{ id: 1, next: { id: 2 } }], [{ id: 1, next: {} }]],
  [{ $ref: "#here", $defs: { a: { $anchor: "here", type: "string" } } }, ["a"], [1]],
  [{ $ref: "#/$defs/a~1b%25", $defs: { "a/b%": { type: "string" } } }, ["a"], [1]],
  [{ $ref: "#/unknown/a", unknown: { a: { $ref: "#/$defs/b" } }, $defs: { b: { type: "string" } } }, ["a"], [1]],
  [{ $id: "https://x.example/root", $ref: "inner#/$defs/s", $defs: { i: { $id: "inner", $defs: { s: { type: "string" } } } } }, ["a"], [1]],
  [{ $id: "https://x.example/old#", $ref: "#/definitions/s", definitions: { s: { type: "string" } } }, ["a"], [1]],
  [{ $id: "https://x.example/old#", $ref: "https://x.example/old#/definitions/s", definitions: { s: { type: "string" } } }, ["a"], [1]],
  [{ $recursiveRef: "#/$defs/a", definitions: {}, $defs: { a: { type: "string" } } }, ["a"], [1]],
  [
    { $id: "https://x.example/strict", $dynamicAnchor: "node", $ref: "tree", unevaluatedProperties: false, $defs: { tree } },
    [{ children: [{ value: 1 }] }],
    [{ children: [{ daat: 1 }] }],
  ],
  [{ $dynamicRef: "#/$defs/a", $defs: { a: { type: "string" } } }, ["a"], [1]],
  [{ format: "date", pattern: "^2" }, ["2024-01-01", 5], ["2024-01-32", "1999-01-01"]],
  [{ format: "unknown", title: "x", default: 1, $comment: "y" }, ["a"], []],
];

describe("a JSON Schema", () => {
  it.each(cases)("says what fits and what does not: %j", (schema, good, bad) => {
    expect(good.map((value) => issuesOf(schema, value))).toEqual(good.map(() => []));
    for (const value of bad) expect([value, issuesOf(schema, value).length > 0]).toEqual([value, true]);
  });

  it.each<[string, JsonSchema, Json, string[]]>([
    ["a type", { properties: { "a/b": { type: ["number", "null"] } } }, { "a/b": "x" }, ["/a~1b: must be number or null, not string"]],
    [
      "all of it at once",
      { required: ["a", "b"], maxProperties: 0 },
      { c: 1 },
      [': lacks "a"', ': lacks "b"', ": must have at most 0 members"],
    ],
    ["an item", { items: { enum: [1, "x"] } }, [1, 2], ['/1: must be one of 1,"x"']],
    [
      "no alternative",
      { anyOf: [{ const: 1 }, { type: "string" }] },
      2,
      [": fits none of the schemas that are allowed", ": must be 1", ": must be string, not number"],
    ],
    ["two alternatives", { oneOf: [true, true] }, 2, [": must fit exactly one of the schemas, but fits 2"]],
    ["the same twice", { uniqueItems: true }, [1, [2], [2]], [": has the same item twice, at 1 and 2"]],
    ["what must not be", { not: {} }, 1, [': must not fit the schema in "not"']],
    ["too few that fit", { contains: false, minContains: 2 }, [1], [': must have at least 2 items that fit "contains", not 0']],
    ["too many that fit", { contains: true, maxContains: 1 }, [1, 2], [': must have at most 1 items that fit "contains", not 2']],
    ["what is not there", { additionalProperties: false }, { a: 1 }, ["/a: no value is allowed here"]],
    [
      "what is unknown",
      { properties: { json: true, text: true }, additionalProperties: false },
      { id: 1 },
      ["/id: is unknown; there are: json, text"],
    ],
    [
      "what is unknown among many",
      { properties: Object.fromEntries(Array.from({ length: 22 }, (_, i) => [`m${i}`, true])), additionalProperties: false },
      { id: 1 },
      [expect.stringMatching(/^\/id: is unknown; there are: m0, m1, .* m19, and 2 more$/)],
    ],
    [
      "a long list",
      { enum: Array.from({ length: 500 }, (_, i) => i) },
      -1,
      [expect.stringMatching(/^: must be one of 0,1,2.{150,250}\.\.$/)],
    ],
    ["a format", { format: "email" }, "x", [": is not a valid email"]],
    ["a companion", { dependentRequired: { a: ["b"] } }, { a: 1 }, [': lacks "b", which is required if there is "a"']],
  ])("says what is wrong: %s", (_, schema, value, messages) => {
    expect(issuesOf(schema, value)).toEqual(messages);
  });

  it.each<[JsonSchema, string]>([
    [{ type: "int" }, "/type: must be one of null, boolean, object, array, number, string, integer, or a list of them"],
    [{ enum: 1 }, "/enum: must be a list of values"],
    [{ minimum: "1" }, "/minimum: must be a number"],
    [{ multipleOf: 0 }, "/multipleOf: must be a number above 0"],
    [{ maxLength: -1 }, "/maxLength: must be a whole number of at least 0"],
    [{ minItems: 1.5 }, "/minItems: must be a whole number of at least 0"],
    [{ pattern: 1 }, "/pattern: must be text"],
    [{ required: true }, "/required: must be a list of names"],
    [{ dependentRequired: { a: 1 } }, "/dependentRequired: must be an object of lists of names"],
    [{ properties: [] }, "/properties: must be an object of schemas"],
    [{ prefixItems: {} }, "/prefixItems: must be a list of schemas"],
    [{ allOf: {} }, "/allOf: must be a list of schemas"],
    [{ anyOf: 1 }, "/anyOf: must be a list of schemas"],
    [{ oneOf: 1 }, "/oneOf: must be a list of schemas"],
    [{ contains: true, minContains: -1 }, "/minContains: must be a whole number of at least 0"],
    [{ contains: true, maxContains: "1" }, "/maxContains: must be a whole number of at least 0"],
    [{ not: 1 }, "/not: must be a schema: an object, true or false"],
    [
      { allOf: [{ properties: { "a/b": { patternProperties: { "(": true } } } }] },
      expect.stringMatching(/^\/allOf\/0\/properties\/a~1b\/patternProperties\/\(: is no pattern/) as never,
    ],
    [{ $ref: 1 }, "/$ref: leads nowhere: a reference can only lead to a place in the same schema"],
    [{ $ref: "#/%zz" }, "/$ref: leads nowhere: a reference can only lead to a place in the same schema"],
    [{ $dynamicRef: "http://[" }, "/$dynamicRef: leads nowhere: a reference can only lead to a place in the same schema"],
    [{ $recursiveRef: "#/a/b" }, "/$recursiveRef: leads nowhere: a reference can only lead to a place in the same schema"],
    [{ $id: "#a" }, "/$id: must be a URI without a fragment"],
    [{ $defs: { a: { $id: "x" }, b: { $id: "x" } } }, expect.stringContaining("/$id: is the id of two schemas") as never],
  ])("is refused itself: %j", (schema, mistake) => {
    expect(compileSchema(schema).mistakes.map(({ pointer, message }) => `${pointer}: ${message}`)).toEqual([mistake]);
  });

  it("is not read deeper than makes sense", () => {
    let schema: JsonSchema = {};
    for (let i = 0; i < 300; i++) schema = { not: schema };
    expect(compileSchema(schema).mistakes[0]!.message).toBe("nests schemas deeper than 200 levels");
    const circle: { not?: unknown } = {};
    circle.not = circle;
    expect(() => compileSchema(circle as JsonSchema).check(1, new CheckBudget(defaultLimits))).toThrow("refers to itself without end");
  });
});
