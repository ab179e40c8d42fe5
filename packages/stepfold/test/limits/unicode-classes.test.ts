import { describe, expect, it } from "vitest";
import type { Json, JsonSchema } from "../../src/core/values/json.ts";
import { CheckBudget } from "../../src/engine/schema/check-run.ts";
import { compileSchema } from "../../src/engine/schema/json-schema.ts";
import { compileExpression } from "../../src/expressions/compile-expression.ts";

// A13: the platform makes the set of a class of Unicode while it reads a pattern, which takes up to 0.4 ms. A23: lengths were too cheap.

const classes = (count: number): string => "\\p{L}".repeat(count);
const spent = (schema: JsonSchema, value: Json): number => {
  const budget = new CheckBudget({ schemaWork: Number.POSITIVE_INFINITY, issues: 100 });
  compileSchema(schema).check(value, budget);
  return budget.spent;
};

describe("classes of Unicode in a pattern", () => {
  it("are at most 200, in schemas, formats and expressions", () => {
    const few = compileSchema({ pattern: classes(200) });
    expect(few.mistakes).toEqual([]);
    expect(compileSchema({ pattern: classes(201) }).mistakes).toMatchObject([
      { message: expect.stringContaining("has 201 classes such as \\p{L}") },
    ]);
    const isRegex = (text: string): boolean =>
      compileSchema({ format: "regex" }).check(text, new CheckBudget({ schemaWork: 1e9, issues: 100 })).length === 0;
    expect([classes(200), classes(201), "x".repeat(10_000), "x".repeat(10_001), "(a)\\1", "("].map(isRegex)).toEqual([
      true,
      false,
      true,
      false,
      true,
      false,
    ]);
    expect(compileExpression(`/${classes(200)}/u.test("a")`).evaluate({})).toBe(false);
    expect(() => compileExpression(`/${"\\P{L}".repeat(201)}/u.test("a")`)).toThrow("has 201 classes");
  });

  it("count 100 steps in the patterns of a schema", () => {
    const properties = (count: number): JsonSchema => ({
      properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { pattern: `${i}${classes(100)}` }])),
    });
    expect(compileSchema(properties(4)).mistakes).toEqual([]);
    expect(compileSchema(properties(6)).mistakes).toMatchObject([{ message: expect.stringContaining("more than 50000 steps") }]);
  });

  it("are paid for in a text that is to be a pattern", () => {
    expect(spent({ format: "regex" }, classes(100))).toBeGreaterThan(1_000_000);
    expect(spent({ format: "regex" }, "x".repeat(500))).toBeLessThan(1_000);
  });
});

describe("the length of a text", () => {
  it.each(["minLength", "maxLength"])("is paid for by each letter: %s", (keyword) => {
    expect(spent({ [keyword]: 5 }, "x".repeat(100_000))).toBeGreaterThanOrEqual(50_000);
  });
});
