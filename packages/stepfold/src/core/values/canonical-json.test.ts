import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../../scripts/test/effort.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { Json } from "./json.ts";

describe("canonicalJson", () => {
  it("puts the keys of every object in order, by code unit", () => {
    expect(canonicalJson({ b: 1, a: { d: [], c: {} }, "10": 0, "9": 0, B: "\n", é: null })).toBe(
      '{"10":0,"9":0,"B":"\\n","a":{"c":{},"d":[]},"b":1,"é":null}',
    );
  });

  it("leaves arrays and plain values as JSON has them", () => {
    expect(canonicalJson([3, "x", true, null, 1.5e300])).toBe('[3,"x",true,null,1.5e+300]');
  });

  it("gives equal text for equal values, whatever the order of keys", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const shuffled = reversed(value as Json);
        expect(canonicalJson(shuffled)).toBe(canonicalJson(value as Json));
        expect(JSON.parse(canonicalJson(value as Json))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: tries(200) },
    );
  });
});

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member as Json)]),
  );
}
