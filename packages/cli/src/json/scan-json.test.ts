import { describe, expect, it } from "vitest";
import { jsonPositions, positionAt } from "./json-position.ts";
import { scanJson } from "./scan-json.ts";

describe("scanJson", () => {
  it("agrees with JSON.parse on what is JSON", () => {
    const texts = [
      ...'{} [] [[],{}] {"a":{"b":[1,2]}} 0 -0 1.5e+3 true null "\\u0041\\n" ["a","b"]'.split(" "),
      ...'[1,] {,} {"a"} {"a":} {"a":1,} 01 1. .5 +1 --1 nul truex "\\x" "\\u00g0" [1 2] {\'a\':1} {a:1} ] }'.split(" "),
      "",
      " ",
      '"\t"',
      '"\u007f"',
      "[1] 2",
      "\u00a0[]",
      "-",
      "1e",
      '"open',
      '{"a":1',
      "NaN",
    ];
    for (const text of texts) {
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      expect({ text, valid: scanJson(text) === null }).toEqual({ text, valid });
    }
  });

  it("reads strings of any length, with and without escapes", () => {
    for (const text of [`"${"x".repeat(12_000_000)}"`, `"${"\\n ".repeat(4_000_000)}"`]) {
      expect(scanJson(text)).toBeNull();
      expect(scanJson(text.slice(0, -1))).toMatchObject({ offset: text.length - 1 });
    }
  });

  it("says where the mistake is, and what to do", () => {
    const mistakes: readonly (readonly [text: string, offset: number, hint: RegExp])[] = [
      ["[1, ]", 4, /comma before/],
      ["{'a': 1}", 1, /double quotes/],
      ["{a: 1}", 1, /double quotes/],
      ['{"a": 1 "b": 2}', 8, /comma missing/],
      ["[1 // one\n]", 3, /no comments/],
      ['{"a": [1', 8, /ends too early/],
      ["[True]", 1, /true, false, null/],
      ['"a\nb"', 2, /line break/],
      ['"a\\d"', 2, /JSON knows/],
      ["[01]", 1, /A number looks like/],
    ];
    for (const [text, offset, hint] of mistakes) {
      const found = scanJson(text);
      expect({ text, offset: found?.offset }).toEqual({ text, offset });
      expect(found?.hint).toMatch(hint);
    }
  });

  it("takes any depth", () => {
    const depth = 200_000;
    expect(scanJson("[".repeat(depth) + "]".repeat(depth))).toBeNull();
    expect(scanJson("[".repeat(depth))?.offset).toBe(depth);
  });
});

describe("jsonPositions", () => {
  it("finds values by their pointers, and what is missing where it should be", () => {
    const positionOf = jsonPositions('{\n  "a/b": [1, {"c~": 2}],\n  "d": 3\n}');
    expect(positionOf("")).toEqual({ line: 1, column: 1 });
    expect(positionOf("/a~1b/1/c~0")).toEqual({ line: 2, column: 21 });
    expect(positionOf("/d")).toEqual({ line: 3, column: 8 });
    expect(positionOf("/a~1b/1/missing/deeper")).toEqual(positionOf("/a~1b/1"));
    expect(positionOf("/nothing")).toEqual({ line: 1, column: 1 });
  });

  it("counts lines and columns from 1", () => {
    expect(positionAt("ab\ncd", 0)).toEqual({ line: 1, column: 1 });
    expect(positionAt("ab\ncd", 4)).toEqual({ line: 2, column: 2 });
  });
});
