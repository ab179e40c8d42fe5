import { describe, expect, it } from "vitest";
import { checkRanges, equalValues, isInRanges } from "./metadata-range.ts";

describe("bounds of metadata", () => {
  it("hold for values of their type, all of them", () => {
    const metadata = { n: 5, text: "b", flag: true, none: null, list: [5], big: 1e308 };
    expect(isInRanges(metadata, { n: { gte: 5, lt: 6 }, text: { gt: "a" }, big: { gt: 0 } })).toBe(true);
    expect(isInRanges(metadata, { n: { gte: 5 }, text: { gt: "b" } })).toBe(false);
    for (const key of ["text", "flag", "none", "list", "other", "toString"])
      expect(isInRanges(metadata, { [key]: { lte: 9 } }), key).toBe(false);
    for (const key of ["n", "flag", "none", "list", "other", "toString"])
      expect(isInRanges(metadata, { [key]: { gte: "" } }), key).toBe(false);
    expect(isInRanges({ n: Number.NaN }, { n: { lte: 1, gte: 0 } })).toBe(false);
  });

  it("are told apart from equal values, which they leave alone", () => {
    const filters = { a: 1, b: { gt: 1 }, c: null, d: undefined, e: "x" };
    expect(equalValues(filters)).toEqual({ a: 1, c: null, e: "x" });
    expect(isInRanges({ a: 2, b: 2 }, filters)).toBe(true);
  });

  it.each<[bounds: unknown, option: string]>([
    [{}, "metadata.n"],
    [[], "metadata.n"],
    [[1], "metadata.n"],
    [new Date(0), "metadata.n"],
    [{ gt: undefined }, "metadata.n"],
    [{ gt: null }, "metadata.n.gt"],
    [{ gte: {} }, "metadata.n.gte"],
    [{ lt: Number.NaN }, "metadata.n.lt"],
    [{ lte: Number.NEGATIVE_INFINITY }, "metadata.n.lte"],
    [{ gt: 1, lt: "2" }, "metadata.n.lt"],
    [{ gt: "1", lte: 2 }, "metadata.n.lte"],
    [{ gt: 1, than: 2 }, "metadata.n.than"],
    [JSON.parse('{ "__proto__": 1 }'), "metadata.n.__proto__"],
    [{ ["x".repeat(200)]: 1 }, `metadata.n.${"x".repeat(80)}…`],
  ])("are refused in another form, with the place: %j", (bounds, option) => {
    expect(() => checkRanges({ n: bounds as never })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", details: expect.objectContaining({ option }) }),
    );
  });

  it("name no more of a key than can be read", () => {
    const wrong = (key: string) => () => checkRanges({ [key]: {} as never });
    expect(wrong("k".repeat(1_000))).toThrow(`"metadata.${"k".repeat(80)}…" must be a value, or an object with a bound: gt, gte, lt, lte`);
  });
});
