import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { Json, JsonSchema } from "../../src/core/values/json.ts";
import { CheckBudget } from "../../src/engine/schema/check-run.ts";
import { formats } from "../../src/engine/schema/formats.ts";
import { compileSchema } from "../../src/engine/schema/json-schema.ts";
import { logicKeywords } from "../../src/engine/schema/logic-keywords.ts";
import { lastKeywords, structureKeywords } from "../../src/engine/schema/structure-keywords.ts";
import { valueKeywords } from "../../src/engine/schema/value-keywords.ts";
import { type Swept, textOf } from "./sweep.fixture.ts";

type Made = (by: number) => Json;

const list = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => item(index));
const words: Made = (by) => textOf("Ab c ", by);
const numbers: Made = (by) => list(4_000 * by, (i) => i);
const lists: Made = (by) => list(4_000 * by, (i) => [i, `${i}`]);
const texts: Made = (by) => list(4_000 * by, (i) => `text ${i}`);
const wide: Made = (by) => Object.fromEntries(list(4_000 * by, (i) => [`k${i}`, i]));
const named = list(4_000, (i) => `k${i}`);
const schemas = (schema: JsonSchema): Json => Object.fromEntries(named.map((name) => [name, schema as Json])) as Json;
const each = (schema: object): JsonSchema => ({ items: schema }) as JsonSchema;

/** Schemas with each keyword, and values that they have to read. */
const tried: Readonly<Record<string, readonly (readonly [JsonSchema, Made])[]>> = {
  type: [[each({ type: "string" }), numbers]],
  const: [
    [{ const: [1] }, lists],
    [each({ const: [1, "2"] }), lists],
    [{ const: "a" }, words],
  ],
  enum: [
    [{ enum: [[1], { a: 1 }] }, wide],
    [each({ enum: [[1], [2]] }), lists],
  ],
  minimum: [[each({ minimum: 5 }), numbers]],
  maximum: [[each({ maximum: 5 }), numbers]],
  exclusiveMinimum: [[each({ exclusiveMinimum: 5 }), numbers]],
  exclusiveMaximum: [[each({ exclusiveMaximum: 5 }), numbers]],
  multipleOf: [
    [each({ multipleOf: 1e-300 }), numbers],
    [each({ multipleOf: 0.1 }), (by) => list(4_000 * by, (i) => i * 1e300)],
  ],
  minLength: [
    [{ minLength: 5 }, words],
    [{ minLength: 5 }, (by) => textOf("\u{1F600}", by)],
  ],
  maxLength: [[{ maxLength: 5 }, words]],
  pattern: [
    [{ pattern: "(x+x+)+y" }, words],
    [{ pattern: "^(b|[^b])*z$" }, words],
    [each({ pattern: "t.*9$" }), texts],
  ],
  format: [...formats.keys()].flatMap((format) =>
    ["Ab c ", "a.", "1:", "%41", "{a}", "/~1", "\\p{L}"].map((part) => [{ format }, (by: number) => textOf(part, by)] as const),
  ),
  required: [[{ required: named }, wide]],
  minProperties: [[{ minProperties: 5 }, wide]],
  maxProperties: [[{ maxProperties: 5 }, wide]],
  minItems: [[each({ minItems: 5 }), lists]],
  maxItems: [[each({ maxItems: 1 }), lists]],
  dependentRequired: [[{ dependentRequired: Object.fromEntries(named.map((name) => [name, ["x"]])) }, wide]],
  propertyNames: [[{ propertyNames: { maxLength: 2 } }, wide]],
  properties: [[{ properties: schemas({ type: "string" }) }, wide] as never],
  patternProperties: [[{ patternProperties: { "^k.*9$": { type: "string" } } }, wide]],
  additionalProperties: [
    [{ additionalProperties: false }, wide],
    [{ additionalProperties: { type: "number" } }, wide],
  ],
  prefixItems: [[each({ prefixItems: [{ type: "number" }, { type: "number" }] }), lists]],
  items: [
    [{ items: true }, numbers],
    [{ items: { type: "number" } }, numbers],
  ],
  contains: [[{ contains: { type: "string" } }, numbers]],
  uniqueItems: [
    [{ uniqueItems: true }, numbers],
    [{ uniqueItems: true }, lists],
    [{ uniqueItems: true }, texts],
  ],
  unevaluatedProperties: [
    [{ unevaluatedProperties: false }, wide],
    [{ properties: { a: true }, unevaluatedProperties: { type: "number" } }, wide],
  ],
  unevaluatedItems: [
    [{ unevaluatedItems: false }, numbers],
    [{ contains: { type: "number" }, unevaluatedItems: false }, numbers],
  ],
  $ref: [[{ items: { $ref: "#/$defs/a" }, $defs: { a: { type: "string" } } }, numbers]],
  $dynamicRef: [[{ items: { $dynamicRef: "#a" }, $defs: { a: { $dynamicAnchor: "a", type: "string" } } }, numbers]],
  $recursiveRef: [[{ items: { $recursiveRef: "#" } }, lists]],
  allOf: [[each({ allOf: [{ type: "string" }, { minimum: 2 }] }), numbers]],
  anyOf: [[each({ anyOf: [{ type: "string" }, { minimum: 2 }] }), numbers]],
  oneOf: [[each({ oneOf: [{ type: "string" }, { minimum: 2 }] }), numbers]],
  not: [[each({ not: { type: "string" } }), numbers]],
  if: [[each({ if: { type: "string" }, else: { minimum: 5 } }), numbers]],
  dependentSchemas: [[{ dependentSchemas: schemas({ required: ["x"] }) }, wide] as never],
  dependencies: [[{ dependencies: Object.fromEntries(named.map((name) => [name, ["x"]])) }, wide] as never],
};

/** The budget of a check: four times that of a real one. */
const limits = { schemaWork: 20_000_000, issues: 100 };

/** Every keyword of JSON Schema that is checked, by name. */
export function sweptKeywords(): Swept[] {
  const known = [valueKeywords, structureKeywords, logicKeywords, lastKeywords].flatMap((keywords) => Object.keys(keywords));
  return known.map((name) => ({
    name: `keyword ${name}`,
    calls: (tried[name] ?? []).map(([schema, make], index) => {
      const compiled = compileSchema(schema);
      return {
        what: `${name} ${JSON.stringify(schema).slice(0, 80)} (${index})`,
        prepare(by) {
          const value = make(by);
          return () => {
            const budget = new CheckBudget(limits);
            try {
              compiled.check(value, budget);
            } catch (error) {
              if (!StepfoldError.is(error, "LIMIT_EXCEEDED")) throw error;
            }
            return budget.spent;
          };
        },
      };
    }),
  }));
}
