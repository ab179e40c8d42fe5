// biome-ignore-all lint/suspicious/noTemplateCurlyInString: template strings of the language under test
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { compileExpression } from "../../src/expressions/compile-expression.ts";

const input = {
  n: 3,
  m: -0.5,
  text: "ab c",
  flag: true,
  none: null,
  list: [3, 1, 2],
  rows: [
    { id: 1, tag: "x" },
    { id: 2, tag: "y" },
  ],
};

/** Expressions whose operands have one type, so that JavaScript never converts a value silently. */
const { number, text, flag, list } = fc.letrec<{ number: string; text: string; flag: string; list: string }>((tie) => {
  const two = (left: "number" | "text" | "flag", signs: readonly string[], right = left): fc.Arbitrary<string> =>
    fc.tuple(tie(left), fc.constantFrom(...signs), tie(right)).map(([a, sign, b]) => `(${a} ${sign} ${b})`);
  const pick = (type: "number" | "text" | "flag" | "list"): fc.Arbitrary<string> =>
    fc.tuple(tie("flag"), tie(type), tie(type)).map(([test, a, b]) => `(${test} ? ${a} : ${b})`);
  const call = (owner: "text" | "list", ...calls: string[]): fc.Arbitrary<string> =>
    fc.tuple(tie(owner), fc.constantFrom(...calls)).map(([self, method]) => `${self}${method}`);
  return {
    number: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constantFrom("0", "1", "2.5", "1e3", "input.n", "input.m", "input.rows[1].id", "input['n']"),
      two("number", ["+", "-", "*", "/", "%"]),
      fc
        .tuple(tie("number"), fc.constantFrom("0", "1", "2", "-1"))
        .map(([a, power]) => `(${a}) ** ${power}`)
        .map((source) => `(${source})`),
      tie("number").map((a) => `-(${a})`),
      pick("number"),
      call("text", ".length", ".indexOf('b')"),
      call("list", ".length", ".reduce((a, b) => a + b, 0)", ".findIndex(x => x > 1)"),
      tie("number").map((a) => `Math.round(${a})`),
    ),
    text: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom("''", "'b'", '"c d"', "input.text", "input.rows[0].tag", "(typeof input.n)"),
      two("text", ["+"]),
      fc.tuple(tie("text"), tie("number")).map(([a, b]) => `\`\${${a}}-\${${b}}\``),
      fc.tuple(tie("text"), tie("number")).map(([a, b]) => `(${a} + ${b})`),
      pick("text"),
      call(
        "text",
        ".toUpperCase()",
        ".trim()",
        ".slice(1)",
        ".slice(-2, -1)",
        ".padStart(5, '.')",
        ".replaceAll('b', 'q')",
        ".split(' ').join('_')",
      ),
      call("list", ".map(x => x + 1).join('-')"),
    ),
    flag: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom("true", "false", "input.flag", "(input.none?.a.b === undefined)", "(input.none ?? true)"),
      two("number", ["<", "<=", ">", ">=", "===", "!=="]),
      two("text", ["<", ">", "===", "!=="]),
      two("flag", ["&&", "||", "==="]),
      tie("flag").map((a) => `!${a}`),
      call("text", ".includes('b')", ".startsWith('a')", ".endsWith('c')"),
      call("list", ".includes(1)", ".some(x => x > 2)", ".every(x => x > 0)"),
    ),
    list: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom("input.list", "[]", "[1, 2]", "input.rows.map(row => row.id)"),
      fc.tuple(tie("number"), tie("list")).map(([a, b]) => `[${a}, ...${b}]`),
      pick("list"),
      call(
        "list",
        ".map((x, i) => x * i)",
        ".filter(x => x > 1)",
        ".slice(1)",
        ".toReversed()",
        ".concat([7])",
        ".flatMap(x => [x, x])",
        ".toSorted((a, b) => a - b)",
        ".toSorted()",
      ),
    ),
  };
});

describe("a generated expression", () => {
  const source = fc.oneof(
    number,
    text,
    flag,
    list,
    fc.tuple(number, list).map(([a, b]) => `{ a: ${a}, b: ${b}, ...input.rows[0] }`),
  );

  it("gives what JavaScript gives", () => {
    let compared = 0;
    fc.assert(
      fc.property(source, (code) => {
        let value: unknown;
        try {
          value = compileExpression(code).evaluate({ input });
        } catch (error) {
          // A large expression may exceed a limit; any other error fails the test.
          if (!StepfoldError.is(error) || !/budget|deeper|more than/.test(error.message)) throw error;
          return;
        }
        compared++;
        expect(value).toEqual(new Function("input", `return (${code});`)(input));
      }),
      { numRuns: tries(4_000) },
    );
    expect(compared).toBeGreaterThan(tries(4_000) * 0.75);
  });

  it("means the same without brackets that change nothing", () => {
    const operand = fc.constantFrom("1", "2", "3", "input.n", "-2", "!0", "true");
    const sign = fc.constantFrom("+", "-", "*", "/", "%", "<", ">", "<=", ">=", "===", "!==", "&&", "||", "? 4 :", "? 5 - 1 :");
    const flat = fc
      .tuple(operand, fc.array(fc.tuple(sign, operand), { maxLength: 12 }))
      .map(([first, rest]) => [first, ...rest.flat()].join(" "));
    fc.assert(
      fc.property(flat, (code) => {
        expect(compileExpression(code).evaluate({ input })).toEqual(new Function("input", `return (${code});`)(input));
      }),
      { numRuns: tries(4_000) },
    );
  });
});
