import { createContext, runInContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { normalise } from "../../../src/core/values/to-json.ts";

const other = createContext({});
const foreign = (source: string): unknown => runInContext(source, other);

describe("normalise of what another realm made", () => {
  it.each<[string, unknown, unknown]>([
    ["a date", foreign("new Date(0)"), "1970-01-01T00:00:00.000Z"],
    ["an object", foreign("({ a: [1, { b: null }] })"), { a: [1, { b: null }] }],
  ])("keeps %s as JSON would", (_, value, expected) => {
    expect(normalise(value, "It").value).toEqual(expected);
  });

  it.each<[string, unknown, string]>([
    ["a Set", foreign("new Set()"), "a Set"],
    ["a boxed boolean", foreign("new Boolean(false)"), "a Boolean object"],
    ["an error", foreign("new Error('x')"), "an Error"],
    ["an invalid date", foreign("new Date(NaN)"), "an invalid Date"],
  ])("refuses %s and says where it is", (_, value, what) => {
    const reason = expect.stringContaining(what);
    expect(() => normalise({ v: value }, "It")).toThrow(
      expect.objectContaining({ code: "VALUE_NOT_JSON", details: { what: "It", pointer: "/v", reason } }),
    );
  });
});
