// biome-ignore-all lint/suspicious/noTemplateCurlyInString: template strings of the language under test
import { describe, expect, it } from "vitest";
import { errorOf, scope } from "../../test/expressions/try-expression.fixture.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { compileExpression } from "./compile-expression.ts";

describe("what fails while an expression runs", () => {
  it.each<[string, string, number]>([
    ["input.missing.a", 'cannot read "a": input.missing is undefined', 14],
    ["input.none.a", 'cannot read "a": input.none is null', 11],
    ["input.none[attempt]", "cannot read a member: input.none is null", 11],
    ["input.missing.trim()", "cannot read trim(): input.missing is undefined", 14],
    ["item.map(x => 1)", "item is undefined", 5],
    ["input.name.map(x => 1)", "map() works on arrays, but input.name is a text", 11],
    ["input.price.trim()", "trim() works on texts, but input.price is a number", 12],
    ["input.price.slice(1)", "works on texts and arrays", 12],
    ["input.trim()", "but input is an object", 6],
    ["input.yes.trim()", "a boolean", 10],
    ["input.tags.toFixed(1)", "toFixed() works on numbers, but input.tags is an array", 11],
    ["input * 2", "an object is no number", 6],
    ["input.tags > 2", "an array is no number", 11],
    ["+input", "an object is no number", 0],
    ["input[null]", "a key must be a text or a number, not null", 6],
    ["{ [null]: 1 }", "a key must be a text or a number", 2],
    ["{ ['__proto' + '__']: 1 }", '"__proto__" is not allowed', 2],
    ["input['const' + 'ructor']", '"constructor" cannot be read', 6],
    ["[...input]", "only an array can be spread here, not an object", 4],
    ["{ ...input.tags }", "only an object can be spread here, not an array", 2],
    ["null in input", "a key must be a text or a number, not null", 5],
    ["'a' in input.name", '"in" needs an object or array, not a text', 4],
    ["input.missing!", "input.missing is missing, and the ! after it says", 0],
    ["input.none!.a", "input.none is null, and the ! after it says", 0],
    ["input.none?.a!", "is missing, and the ! after it says", 0],
    ["[1].map(([a]) => a.b)", "cannot read", 19],
    ["[null].map(([a]) => a)", 'cannot read "0": [a] is null', 20],
  ])("%s", (source, message, position) => {
    const error = errorOf(source) as StepfoldError<"EXPRESSION_FAILED">;
    expect(error.message).toContain(message);
    expect(error.message).toContain(`(character ${position + 1})`);
    expect(error.code).toBe("EXPRESSION_FAILED");
    expect(error.details.position).toBe(position);
  });

  it("says where in the definition it stands", () => {
    const failing = compileExpression("input.missing.a", "/nodes/0/retryPolicy/retryIf");
    expect(() => failing.evaluate(scope)).toThrow("at /nodes/0/retryPolicy/retryIf failed");
  });

  it("cuts long sources in messages", () => {
    const long = `input.${"a".repeat(80)}.b`;
    expect(errorOf(long).message).toContain("…");
  });

  it("calls what it cannot name a class instance or a function", () => {
    const odd = { globals: { date: new Date(0), run: () => 1, map: new Map() } };
    expect(() => compileExpression("globals.date.x").evaluate(odd)).toThrow("a class instance");
    expect(() => compileExpression("globals.run").evaluate(odd)).toThrow('"run" is a function');
    expect(() => compileExpression("input.x").evaluate({ input: () => 1 })).toThrow("of a function");
  });
});

describe("errors of this library", () => {
  it("keep their type through a copy of the module", () => {
    expect(StepfoldError.is(errorOf("1 +"), "EXPRESSION_INVALID")).toBe(true);
  });
});
