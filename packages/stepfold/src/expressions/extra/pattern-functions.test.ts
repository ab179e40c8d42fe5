import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { compileExpression } from "../compile-expression.ts";
import { expressionLimits } from "../evaluation/expression-limits.ts";
import { loadFunctions } from "../load-functions.ts";

beforeAll(loadFunctions);
const run = (source: string, input: unknown = ""): unknown =>
  compileExpression(source, undefined, expressionLimits(10_000)).evaluate({ input });
const messageOf = (source: string, input: unknown = ""): string => {
  try {
    run(source, input);
  } catch (error) {
    return (error as Error).message;
  }
  throw new RangeError(`no error: ${source}`);
};

const atoms = ["a", "b", "1", "\\d", "[ab]", "[^a]", ".", "\\w", "(?:a|b)", "(a|b)", "(a)", "\\p{L}", "ä"];
const edges = ["^", "$", "\\b", "(?=a)", "(?!b)", "(?<=a)", "(?<!b)", "(?=.*(b))", "(b|)"];
const counts = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{1,}", "*?", "+?", "??"];
const term = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...atoms), fc.constantFrom(...counts)).map((parts) => parts.join("")) },
  { weight: 1, arbitrary: fc.constantFrom(...edges) },
);
const sequence = fc.array(term, { minLength: 1, maxLength: 4 }).map((terms) => terms.join(""));
const mayBeEmpty = (source: string): boolean =>
  ["", "a", "b", "1 ", "xa", "b\nä", "aba1"].some((one) => [...one.matchAll(new RegExp(source, "gu"))].some(([found]) => found === ""));
const pattern = fc.oneof(
  sequence,
  fc.tuple(sequence, sequence).map((both) => both.join("|")),
  fc.tuple(sequence, fc.constantFrom(...counts)).map(([inner, count]) => `(?:x|${inner})${mayBeEmpty(inner) ? "" : count}`),
);
const text = fc.array(fc.constantFrom("a", "a", "b", "1", " ", "\n", "ä", "x", "A"), { maxLength: 8 }).map((letters) => letters.join(""));
const flags = fc.constantFrom("", "i", "m", "s", "ims");

describe("a regular expression in an expression", () => {
  // Repetitions of parts that can match the empty text are left out: a search
  // in linear time cannot repeat them as often as JavaScript does.
  it("finds what the platform's finds", () => {
    fc.assert(
      fc.property(pattern, flags, fc.array(text, { maxLength: 4 }), (source, more, texts) => {
        for (const one of texts) {
          const platform = new RegExp(source, `${more}gu`);
          const found = run(`input.match(/${source}/${more}g)`, one);
          expect([source, more, one, found]).toEqual([source, more, one, one.match(platform)]);
          expect(run(`input.search(/${source}/${more})`, one)).toBe(one.search(platform));
          expect([source, one, run(`input.replace(/${source}/${more}g, '<$&>')`, one)]).toEqual([
            source,
            one,
            one.replace(platform, "<$&>"),
          ]);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  // Groups inside repeated parts that can match the empty text, and inside look-arounds, are left out.
  it("captures what the platform's captures", () => {
    const plain = fc.array(
      fc
        .tuple(fc.constantFrom("a", "(a|b)", "([^a])", "(\\d)", "(?:(a)|b)", "(?<n>x)?"), fc.constantFrom("", "+", "*", "+?", "{2}"))
        .map(([atom, count]) => (atom.endsWith("?") ? atom : atom + count)),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(plain, text, (terms, one) => {
        const source = terms.filter((term, index) => !term.includes("<n>") || terms.indexOf(term) === index).join("");
        const platform = new RegExp(source, "u").exec(one);
        expect([source, one, run(`/${source}/.exec(input)`, one)]).toEqual([source, one, platform && [...platform]]);
        const all = [...one.matchAll(new RegExp(source, "gu"))].map((match) => [...match]);
        expect([source, one, run(`input.matchAll(/${source}/g)`, one)]).toEqual([source, one, all]);
        expect([source, one, run(`input.split(/${source}/)`, one)]).toEqual([source, one, one.split(new RegExp(source, "u"))]);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each<[string, string, unknown]>([
    ["/^[\\w.]+@[\\w.]+$/.test(input)", "ada@example.org", true],
    ["/\\d/.test(input)", "ada", false],
    ["!/\\d/.test(input)", "ada", true],
    ["input.match(/(\\d+)-(\\d+)/)", "x 12-34", ["12-34", "12", "34"]],
    ["input.match(/(\\d+)-(\\d+)/)[2]", "x 12-34", "34"],
    ["input.match(/\\d/)", "x", null],
    ["input.match(/\\d/g)", "x", null],
    ["input.replace(/\\s+/g, '-')", "a  b c", "a-b-c"],
    ["input.replace(/\\s+/, '-')", "a  b c", "a-b c"],
    ["input.replaceAll(/b/, '$$')", "abb", "a$$"],
    ["input.replace(/(a)(b)?/, '$2$1$3$10$01$0<$<x>$')", "ac", "a$3a0a$0<$<x>$c"],
    ["input.replace(/(?<x>a)/, '$<x>$<x>')", "ac", "aac"],
    ["input.replace(/[\\\"\\'\\:\\-]/g, '')", "\"a':-b", "ab"],
    ["input.replace(/\\:\\_/g, '')", "a:_b", "ab"],
    ["input.replace(/{{x}}|[}]|]/g, '.')", "{{x}}}]", "..."],
    ["input.replace(/[/]/g, '.')", "a/b", "a.b"],
    ["input.replace(/\\//g, '.')", "a/b", "a.b"],
    ["input.split(/,\\s*/)", "a, b,c", ["a", "b", "c"]],
    ["input.split(/,/, 1)", "a,b", ["a"]],
    ["input.split(/,/, 0)", "a,b", []],
    ["input.split(/,/, -1)", "a,b", ["a", "b"]],
    ["input.split(/(?:)/)", "abc", ["a", "b", "c"]],
    ["input.split(/x*/)", "", []],
    ["input.split(/x/)", "", [""]],
    ["input.search(/b/)", "ab", 1],
    ["input.search(/\\u{1F600}/)", "a😀", 1],
    ["input.match(/./g)", "a😀b", ["a", "😀", "b"]],
    ["input.match(/[^a]b/).length", "a😀b", 1],
    ["input.match(/^b$/m)[0]", "a\nb\nc", "b"],
    ["[input].filter(x => /a/i.test(x)).length", "A", 1],
    ["typeof /a/", "", "object"],
    ["/a/ === /a/", "", false],
    ["input.match(/a{2}/)[0]", "aaa", "aa"],
  ])("%s of %j", (source, input, value) => {
    expect(run(source, input)).toEqual(value);
  });

  it.each<[string, unknown, string]>([
    ["input.match('a')", "a", "match() needs a regular expression such as /a+/, not a text"],
    ["input.test('a')", "a", "test() needs a regular expression"],
    ["/a/", "", "expressions give plain data only"],
    ["{ a: [/a/] }", "", "expressions give plain data only"],
    ["'' + /a/", "", "plain data only"],
    ["/a/.source", "", "cannot read"],
    ["/a/.match(/a/)", "", "argument 1 of match must be a text"],
    ["input.match(/(a?){500}(b|c){500}/)", "a".repeat(3_000), "EXPRESSION_BUDGET"],
  ])("%s is refused", (source, input, message) => {
    expect(messageOf(source, input).concat(message === "EXPRESSION_BUDGET" ? message : "")).toContain(message);
  });

  it("costs no more than the letters times the size of the pattern", () => {
    expect(messageOf("/(a+)+$/.test(input)", `${"a".repeat(200_000)}!`)).toContain("steps");
    expect(run("/(a+)+$/.test(input)", `${"a".repeat(5_000)}!`)).toBe(false);
    expect(run("/(x+x+)+y/.test(input)", "x".repeat(2_500))).toBe(false);
  });
});
