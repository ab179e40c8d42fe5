import { describe, expect, it } from "vitest";
import { compileSchema } from "../../src/engine/schema/json-schema.ts";
import { compileExpression } from "../../src/expressions/compile-expression.ts";
import { expressionLimits } from "../../src/expressions/evaluation/expression-limits.ts";
import { allExtraFunctions } from "../../src/expressions/extra/all-extra-functions.ts";
import { readReplacement } from "../../src/expressions/extra/replacement.ts";
import { provideExtraFunctions } from "../../src/expressions/functions/extra-functions.ts";

// What a few letters of a pattern or of a replacement can ask for is bounded or paid for.

provideExtraFunctions(allExtraFunctions);
const run = (source: string, input: unknown): unknown => compileExpression(source, undefined, expressionLimits(10_000)).evaluate({ input });
const digits = "9".repeat(400);

describe("a repetition counts in each round, also of what takes no step", () => {
  it.each([
    "(?:){999999999}",
    "(){30000000}",
    "(?:(?:){1000}){1000}",
    "(?:){0,999999999}",
    `(?:){${digits}}`,
    `(?:a{${digits}}){0,1}`,
    "(?:(?=)){999999999}",
    "(?:a{0}){999999999}",
    "(?:^){999999999}",
    `(?:${"(?:)".repeat(900)}){5000}`,
    `(?:${"a{0}".repeat(900)}){5000}`,
    "(?:|){999999999}",
    "(?:(?:){999999999})?",
    "(?<name>){999999999}",
    "(?<=(?:){999999999})",
  ])("%s is too large", (pattern) => {
    expect(() => compileExpression(`/${pattern}/.test('a')`)).toThrow(/repeats so much that it takes \d+ steps; at most 5000/);
    expect(compileSchema({ pattern }).mistakes).toMatchObject([{ message: expect.stringContaining("at most 5000") }]);
  });

  it("groups count where they are saved, however deep they are nested", () => {
    const nested = `${"(".repeat(90)}a${")".repeat(90)}{5000}`;
    expect(() => compileExpression(`/${nested}/.test('a')`)).toThrow("at most 5000");
    expect(compileSchema({ pattern: nested }).mistakes).toEqual([]);
    expect(compileSchema({ pattern: `^(?:a{${digits}}){0}$` }).mistakes).toEqual([]);
  });

  it("pays for each copy of the places of groups before it is made", () => {
    expect(() => run(`/${"()".repeat(1_600)}/.test(input)`, "a".repeat(1_000))).toThrow(
      expect.objectContaining({ code: "EXPRESSION_BUDGET" }),
    );
  });
});

describe("a replacement text", () => {
  it("is read once, in pieces", () => {
    const read = (text: string, ...groups: (string | undefined)[]): unknown => readReplacement(text, groups);
    expect(read("a$&b$$c$1$2$<x>d", undefined, "x")).toEqual(["a", 0, "b", "$", "c", 1, 2, 2, "d"]);
    expect(read("$0$00$3$<y>$<x$", "x")).toEqual(["$0$00$3$<y>$<x$"]);
    expect(read("$10$01$12", "x")).toEqual([1, "0", 1, 1, "2"]);
    expect(read("", "x")).toEqual([]);
  });

  it("is read to its end once, and not at each of its signs", () => {
    const text = "$<".repeat(50_000);
    let letters = 0;
    const counted = Object.assign(Object(text) as string, {
      indexOf: (wanted: string, from = 0) => {
        const at = text.indexOf(wanted, from);
        letters += (at === -1 ? text.length : at) - from + 1;
        return at;
      },
    });
    readReplacement(counted, []);
    expect(letters).toBeGreaterThan(text.length - 10);
    expect(letters).toBeLessThan(4 * text.length);
    expect(run("input.letter.replace(/NAME/, input.name)", { letter: "Dear NAME", name: text })).toBe(`Dear ${text}`);
  });

  it("is paid for piece by piece, before a piece is added", () => {
    for (const name of ["$&".repeat(170_000), "$1".repeat(170_000), "$<all>".repeat(60_000)]) {
      const input = { letter: "a".repeat(3_000), name };
      expect(() => run("input.letter.replace(/(?<all>a+)/, input.name)", input)).toThrow(
        expect.objectContaining({ code: "EXPRESSION_BUDGET" }),
      );
    }
    const empty = { letter: "b".repeat(1_000), name: "$1".repeat(50_000) };
    expect(() => run("input.letter.replace(/(a)?b/g, input.name)", empty)).toThrow(expect.objectContaining({ code: "EXPRESSION_BUDGET" }));
    expect(run("input.replace(/(a)?(b)/g, '[$1$2$&]')", "bab")).toBe("[bb][abab]");
  });
});
