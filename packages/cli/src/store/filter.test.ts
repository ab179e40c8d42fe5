import { describe, expect, it } from "vitest";
import { checkFilter, queryOf, wordsOf } from "./filter.ts";

const metadataOf = (...meta: string[]): unknown => queryOf({ meta }, 0).metadata;

describe("--meta", () => {
  it("says an equal value, or bounds", () => {
    expect(metadataOf("stage=late", "n=1", "paid=true", 'text="1"', "gone=null", "list=[1]", "empty=")).toEqual({
      ...{ stage: "late", n: 1, paid: true, text: "1", gone: null, list: "[1]", empty: "" },
    });
    expect(metadataOf("amount>=100", "amount<200", "at>2026-01-31", "at<=2026-02", 'text<"10"', "m>-1.5")).toEqual({
      amount: { gte: 100, lt: 200 },
      at: { gt: "2026-01-31", lte: "2026-02" },
      ...{ text: { lt: "10" }, m: { gt: -1.5 } },
    });
    // a bound that is not a number is text
    expect(metadataOf("a>true", "b<[1]", "c>=", "d<x=y", "e=a>b<c", 'f=">1"')).toEqual({
      ...{ a: { gt: "true" }, b: { lt: "[1]" }, c: { gte: "" }, d: { lt: "x=y" }, e: "a>b<c", f: ">1" },
    });
    expect(JSON.stringify(metadataOf("__proto__>=1"))).toBe('{"__proto__":{"gte":1}}');
  });

  it("is refused if its sign does not exist, and says how to write a text that begins with a sign", () => {
    for (const meta of ["amount=>100", "amount=<100", "amount==100", "amount<>100", "amount>=<1"]) {
      expect(() => metadataOf(meta)).toThrow(
        expect.objectContaining({
          message: expect.stringContaining("There are: = > >= < <="),
          hint: expect.stringContaining("is written in quotes"),
        }),
      );
    }
  });

  it("is refused where it says nothing, or says something twice", () => {
    for (const meta of [
      ["amount"],
      ["=1"],
      [">1"],
      [""],
      ["a=1", "a=1"],
      ["a=1", "a>1"],
      ["a>1", "a=1"],
      ["a>1", "a>2"],
      ["a=null", "a<1"],
    ])
      expect(() => checkFilter({ meta }), meta.join()).toThrow(expect.objectContaining({ code: "USAGE" }));
  });
});

describe("--waiting", () => {
  it("says how long ago a wait was opened", () => {
    const waiting = ["opened-before=2d", "opened-after=PT49H", "kind=external"];
    expect(queryOf({ waiting }, 1_000_000_000)).toEqual({
      waiting: { openedBefore: 1_000_000_000 - 48 * 3_600_000, openedAfter: 1_000_000_000 - 49 * 3_600_000, kind: "external" },
    });
    expect(wordsOf({ waiting, meta: ["a>=1"] })).toEqual(["--meta", "a>=1", ...waiting.flatMap((word) => ["--waiting", word])]);
  });

  it("is refused without a unit, twice, or with what is no time", () => {
    for (const waiting of [
      ["opened-before=2"],
      ["opened-before=1d", "opened-before=2d"],
      ["opened-after=soon"],
      ["opened-after="],
      ["opened=1d"],
    ])
      expect(() => checkFilter({ waiting }), waiting.join()).toThrow(expect.objectContaining({ code: "USAGE" }));
  });
});
