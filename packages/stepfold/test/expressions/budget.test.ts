// biome-ignore-all lint/suspicious/noTemplateCurlyInString: template strings of the language under test
import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { compileExpression } from "../../src/expressions/compile-expression.ts";
import { defaultExpressionLimits, expressionLimits } from "../../src/expressions/evaluation/expression-limits.ts";
import { parse } from "../../src/expressions/syntax/parse.ts";
import { tokenize } from "../../src/expressions/syntax/tokenize.ts";

const numbers = Array.from({ length: 2_000 }, (_, index) => index);
const scope = {
  input: {
    rows: numbers.map((id) => ({ id, price: id / 2, name: `row ${id}`, tags: ["a", "b"] })),
    many: Array.from({ length: 20_000 }, (_, index) => index),
    text: "ab".repeat(400_000),
    wide: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index])),
    json: JSON.stringify(numbers),
  },
};
const run = (source: string): unknown => compileExpression(source, undefined, expressionLimits(10_000)).evaluate(scope);

describe("the budget", () => {
  it.each<[string, unknown]>([
    ["input.rows.map(x => x.price * 2).length", 2_000],
    ["input.rows.filter(x => x.id % 2 === 0 && x.tags.includes('a')).map(x => ({ id: x.id, name: x.name.toUpperCase() })).length", 1_000],
    ["input.rows.map(x => x.name).join(', ').length", 18_888],
    ["input.rows.reduce((text, x) => text + x.name + ', ', '').length", 18_890],
    ["input.rows.toSorted((a, b) => b.id - a.id)[0].id", 1_999],
    ["JSON.stringify(input.rows).length > 100000", true],
    ["JSON.parse(input.json).length", 2_000],
    ["input.many.slice(0, 10).length", 10],
    ["input.text.split('b', 5).length", 5],
  ])("is enough for %s", (source, value) => expect(run(source)).toBe(value));

  it.each([
    "'a'.repeat(1e9)",
    "'a'.repeat(1 / 0)",
    "''.repeat(1 / 0)",
    "'a'.padEnd(1e9)",
    "'a'.padStart(1 / 0, '')",
    "'a'.repeat(1e6).replaceAll('a', 'b'.repeat(1e4))",
    "'a'.repeat(5e5).replace('a', 'b'.repeat(6e5))",
    "'a'.repeat(5e5).concat('b'.repeat(6e5))",
    "'a'.repeat(1e5).normalize()",
    "'a'.repeat(6e5) + 'b'.repeat(6e5)",
    "`${'a'.repeat(6e5)}${'b'.repeat(6e5)}`",
    "encodeURIComponent('a'.repeat(5e5))",
    "date.format(0, 'y'.repeat(6e5))",
    "JSON.stringify(input.rows.map(x => input.text))",
    "input.rows.map(x => input.text).join()",
    "String([input.text, input.text])",
    "JSON.parse('[' + '1,'.repeat(4e5) + '1]')",
    "[1, 2].reduce((text, x) => text + text, 'a'.repeat(6e5))",
    "input.rows.map(x => input.rows.map(y => 1))",
    "input.rows.flatMap(x => input.rows)",
    "[1,2,3,4,5,6,7,8].flatMap(x => input.rows)",
    "input.rows.map(x => input.many.includes(x))",
    "input.many.map(x => x)",
    "input.many.filter(x => x)",
    "input.many.find(x => x < 0)",
    "input.many.findLast(x => x < 0)",
    "input.many.reduce((a, b) => a + b)",
    "input.many.toSorted((a, b) => a - b)",
    "input.rows.sort((a, b) => (b.id * 7919) % 2000 - (a.id * 7919) % 2000)",
    "input.many.sort()",
    "input.many.reverse()",
    "input.many.includes(-1)",
    "input.many.join()",
    "input.many.concat([1])",
    "input.many.flat()",
    "[...input.many]",
    "Math.max(...input.many)",
    "{ ...input.wide }",
    "Object.keys(input.wide)",
    "Object.entries(input.wide)",
    "Object.fromEntries(input.many)",
    "input.text.split('')",
    "input.text.split('b')",
    "input.text.replaceAll('b', '')",
    "input.text.includes('b'.repeat(50000))",
    "input.rows.map(x => input.text.indexOf('c'))",
    "input.rows.map(x => (input.text + 'x').at(0))",
    "input.rows.map(x => (input.text + 'x')[0])",
    "input.rows.map(x => input[input.text])",
    "input.rows.map(x => +input.text)",
    "input.rows.map(x => ({ [input.text]: 1 }))",
    "input.rows.map(x => input.text + 'x' === input.text + 'x')",
    "input.rows.map(x => input.text < input.text)",
    "input.rows.some(x => ['a'].includes(input.text + 'x') && false)",
  ])("ends %s", (source) => {
    let code: unknown;
    try {
      run(source);
    } catch (error) {
      code = (error as StepfoldError).code;
    }
    expect(code).toBe("EXPRESSION_BUDGET");
  });

  it("can be set", () => {
    const limits = { ...defaultExpressionLimits, steps: 50_000 };
    expect(compileExpression("input.many.map(x => x).length", undefined, limits).evaluate(scope)).toBe(20_000);
    const error = (() => {
      try {
        return compileExpression("input.many.map(x => x)", undefined, { ...limits, steps: 7 }).evaluate(scope);
      } catch (caught) {
        return caught;
      }
    })();
    expect(StepfoldError.is(error, "EXPRESSION_BUDGET") && error.details).toEqual({
      source: "input.many.map(x => x)",
      limit: "steps",
      max: 7,
    });
  });

  it("charges an arrow function by its size", () => {
    const limits = { ...defaultExpressionLimits, steps: 4_000 };
    const body = Array.from({ length: 20 }, () => "x.id").join(" + ");
    expect(() => compileExpression(`input.rows.map(x => ${body})`, undefined, limits).evaluate(scope)).toThrow("4000 steps");
  });
});

describe("parsing", () => {
  const limits = { ...defaultExpressionLimits, sourceLength: 1e9, nodes: 1e9, depth: 200 };
  /** Counts how many times the tokenizer reads a character and the parser reads a token. */
  const work = (source: string): number => {
    let looks = 0;
    const counted = {
      length: source.length,
      charCodeAt: (index: number) => looks++ >= 0 && source.charCodeAt(index),
      slice: (from: number, to: number) => {
        looks += Math.max(0, to - from);
        return source.slice(from, to);
      },
    } as unknown as string;
    const { tokens } = tokenize(counted, 0, false, limits.sourceLength);
    const watched = new Proxy(tokens, {
      get(target, key) {
        looks++;
        return Reflect.get(target, key);
      },
    });
    try {
      parse(watched, source, limits);
    } catch (error) {
      if (!StepfoldError.is(error)) throw error;
    }
    return looks;
  };

  it.each<[string, (size: number) => string]>([
    ["sums", (size) => `${"1 + ".repeat(size)}1`],
    ["members", (size) => `a${".b".repeat(size)}`],
    ["arguments", (size) => `f(${"a, ".repeat(size)}a)`],
    ["arguments without an end", (size) => `f(${"(a, ".repeat(size)}`],
    ["brackets", (size) => `${"[".repeat(100)}${"1,".repeat(size)}`],
    ["texts", (size) => `'${"a\\n".repeat(size)}'`],
    ["template strings", (size) => `\`${"a${1}".repeat(size)}\``],
    ["conditions", (size) => `${"a ? b : ".repeat(size)}c`],
    ["objects", (size) => `{${"a: 1, b, ...c, ".repeat(size)}}`],
    ["blanks", (size) => `${" ".repeat(size)}1`],
    ["names", (size) => "a".repeat(size)],
  ])("takes time linear in the length: %s", (_, make) => {
    const [once, twice] = [work(make(1_000)), work(make(2_000))];
    expect(twice / once).toBeLessThan(2.1);
    expect(once).toBeGreaterThan(900);
  });
});
