import { describe, expect, it } from "vitest";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { durationMs, readSpan, timeUnit, unitSpan } from "./duration.ts";

describe("durationMs", () => {
  it.each<[number | string, number]>([
    [0, 0],
    [250, 250],
    [1.6, 2],
    ["250", 250],
    ["1.5", 2],
    [" 90s ", 90_000],
    ["100ms", 100],
    ["1 millisecond", 1],
    ["5 milliseconds", 5],
    ["1.5s", 1_500],
    ["2 secs", 2_000],
    ["3 seconds", 3_000],
    ["1m", 60_000],
    ["5 mins", 300_000],
    ["2 minutes", 120_000],
    ["1h30m", 5_400_000],
    ["1h 30m", 5_400_000],
    ["1 hour, 30 minutes", 5_400_000],
    ["2H", 7_200_000],
    ["2 Days", 172_800_000],
    ["1d", 86_400_000],
    ["2w", 1_209_600_000],
    ["1 week", 604_800_000],
    ["PT5M", 300_000],
    ["PT1.5S", 1_500],
    ["P1DT12H", 129_600_000],
    ["P2W", 1_209_600_000],
    ["P1W2DT3H4M5S", 604_800_000 + 172_800_000 + 10_800_000 + 240_000 + 5_000],
    ["PT0S", 0],
    ["PT1.5H", 5_400_000],
    ["P0.5D", 43_200_000],
    ["P1,5W", 907_200_000],
    ["PT1H0.5M", 3_630_000],
    ["pt5m", 300_000],
    ["P0Y0M1DT0S", 86_400_000],
    ["1hr", 3_600_000],
    ["2 hrs", 7_200_000],
    ["3 mins", 180_000],
    ["1hr 3mins 5 secs", 3_785_000],
    ["2 wks", 1_209_600_000],
    ["20 msec", 20],
  ])("reads %j as %i ms", (duration, ms) => {
    expect(durationMs(duration)).toBe(ms);
  });

  it.each<unknown>([
    "",
    " ",
    "P",
    "PT",
    "P1DT",
    "P1M",
    "P1Y",
    "PT1H2D",
    "PT1.5H30M",
    "P.5D",
    "P1.D",
    "P1.5.5D",
    "1h P1D",
    "1hrss",
    "soon",
    "5 parsecs",
    "1s!",
    "s1",
    "1s x 2s",
    "-5s",
    "-1",
    "1e3",
    "5 hs",
    "1 constructor",
    "9".repeat(101),
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    null,
    undefined,
    {},
  ])("refuses %j", (duration) => {
    expect(() => durationMs(duration as string)).toThrow(StepfoldError);
    expect(() => durationMs(duration as string)).toThrow(/not a duration/);
  });

  it.each([
    "P1M",
    "P1Y",
    "P1Y2M3DT4H",
    "1 month",
    "2 quarters",
    "3 yrs",
    "1 month 2 days",
    "-1 month",
  ])("says why %s is none", (duration) => {
    const details = { text: duration, hasMonths: true };
    expect(() => durationMs(duration)).toThrow(expect.objectContaining({ code: "DURATION_INVALID", details }));
    expect(() => durationMs(duration)).toThrow(/not a duration, because months and years differ in length/);
  });

  it("says what was wrong, cut to size", () => {
    expect(() => durationMs("x".repeat(500))).toThrow(
      expect.objectContaining({ code: "DURATION_INVALID", details: { text: "x".repeat(100) } }),
    );
  });
});

describe("readSpan", () => {
  it.each<[unknown, months: number, ms: number]>([
    [5, 0, 5],
    ["3 months", 3, 0],
    ["P1Y2M", 14, 0],
    ["1y 2mos 1 quarter 1d", 17, 86_400_000],
    ["-1 month 2 days", -1, -172_800_000],
    ["-P1M1D", -1, -86_400_000],
    ["-250", 0, -250],
  ])("reads %j", (value, months, ms) => expect(readSpan(value)).toEqual({ months, ms }));

  it.each(["1.5 months", "P0.5M", "- 1h", "1h -30m", "+1h", "--1h", "x".repeat(101), null, true])("does not read %j", (value) => {
    expect(readSpan(value)).toBeUndefined();
  });

  it("knows each unit by every name, in small and large letters", () => {
    const words = "ms MSEC millis s Sec seconds m mins h HR hours d days w wk week mo months quarters y yrs Years".split(" ");
    expect(words.map(timeUnit)).not.toContain(undefined);
    expect(["hs", "toString", "", "fortnight"].map(timeUnit)).toEqual([undefined, undefined, undefined, undefined]);
    expect(unitSpan(timeUnit("yr")!)).toEqual({ months: 12, ms: 0 });
  });
});
