import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compilePattern } from "./pattern.ts";

const free = (): void => undefined;
const matches = (source: string, text: string): boolean => {
  const compiled = compilePattern(source);
  if (compiled.mistake !== undefined) throw new RangeError(compiled.mistake);
  return compiled.pattern.matches(text, free);
};

const atoms = [
  "a",
  "b",
  "1",
  "\\d",
  "[ab]",
  "[^a]",
  "[\\]a-]",
  ".",
  "\\w",
  "\\s",
  "(?:a|b)",
  "(a|)",
  "\\u{61}",
  "\\x61",
  "\\p{L}",
  "ä",
  "😀",
];
const edges = ["^", "$", "\\b", "\\B", "(?=a)", "(?!b)", "(?<=a)", "(?<!b)", "(?=.*b)", "(?<=a(?!b))", "(?!.*(?<=b)a)"];
const counts = ["", "", "*", "+", "?", "{2}", "{1,2}", "{0}", "{1,}", "*?", "{1}?", "{1,1}?", "{1,1}", "{2,}?"];
const term = fc.oneof(
  fc.tuple(fc.constantFrom(...atoms), fc.constantFrom(...counts)).map((parts) => parts.join("")),
  fc.constantFrom(...edges),
);
const sequence = fc.array(term, { maxLength: 5 }).map((terms) => terms.join(""));
const pattern = fc.oneof(
  sequence,
  fc.tuple(sequence, sequence).map((both) => both.join("|")),
  fc.tuple(sequence, fc.constantFrom(...counts), sequence).map(([inner, count, rest]) => `(?:${inner})${count}${rest}`),
);
// Letters outside the basic plane are left out, because V8 also looks for \B between their two surrogates.
const text = fc.array(fc.constantFrom("a", "a", "b", "1", " ", "\n", "ä"), { maxLength: 8 }).map((letters) => letters.join(""));

describe("F1: a pattern", () => {
  it("matches what the platform's regular expressions match", () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { maxLength: 5 }), (source, texts) => {
        const expected = new RegExp(source, "u");
        for (const one of texts) expect([source, one, matches(source, one)]).toEqual([source, one, expected.test(one)]);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each<[string, string, string]>([
    ["^[a-z]+-\\d{4}$", "order-2024", "order-24"],
    ["^[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+$", "ada@example.co.uk", "ada@example"],
    ["^(?=.*\\d)(?=.*[a-z])(?=.*[A-Z]).{8,64}$", "Passw0rd", "password"],
    ["^(?:[01]\\d|2[0-3]):[0-5]\\d$", "23:59", "24:00"],
    ["^\\p{Lu}\\p{L}*(?: \\p{Lu}\\p{L}*)*$", "Ångström Ärger", "ångström"],
    ["^#(?:[\\da-fA-F]{3}){1,2}$", "#a0b1c2", "#a0b1c"],
    ["^\\+?[1-9]\\d{1,14}$", "+4930123456", "0049"],
    ["\\bword\\b", "a word here", "swordfish"],
    ["^.{2}$", "😀😀", "😀"],
    ["^(?<year>\\d{4})-(?<month>\\d\\d)$", "2024-02", "24-02"],
  ])("of everyday use works: %s", (source, good, bad) => {
    expect([matches(source, good), matches(source, bad)]).toEqual([true, false]);
  });

  it.each<[string, RegExp]>([
    ["(", /is no pattern/],
    ["(a)\\1", /refers back/],
    ["(?<x>a)\\k<x>", /refers back/],
    ["(?i:a)", /sets flags|is no pattern/],
    [`a{${2 ** 31}}`, /repeats so much/],
    ["(a{99}){99}", /repeats so much that it takes 9801 steps; at most 5000/],
    [`${"(".repeat(101)}${")".repeat(101)}`, /deeper than 100/],
    ["a".repeat(10_001), /at most 10000/],
  ])("that cannot be matched in linear time, or is too large, is refused: %s", (source, mistake) => {
    expect(compilePattern(source)).toEqual({ mistake: expect.stringMatching(mistake) });
  });

  it("costs what grows with the text alone", () => {
    for (const source of ["^(a+)+$", "^(a|aa)+$", "(a*)*b", "^(?:a?){50}a{50}$", "(?=(a+)+b)a", "(?<!(a+)+b)$"]) {
      const costs = [1_000, 2_000, 4_000].map((size) => {
        let spent = 0;
        const compiled = compilePattern(source);
        if (compiled.mistake === undefined)
          compiled.pattern.matches(`${"a".repeat(size)}!`, (units) => {
            spent += units;
          });
        return spent;
      });
      expect(costs[1]! / costs[0]!).toBeLessThan(2.2);
      expect(costs[2]! / costs[1]!).toBeLessThan(2.2);
    }
  });
});
