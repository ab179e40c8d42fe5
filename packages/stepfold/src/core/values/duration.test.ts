import { describe, expect, it } from "vitest";
import { StepfoldError } from "../errors/stepfold-error.ts";
import { durationMs } from "./duration.ts";

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

  it("says what was wrong, cut to size", () => {
    expect(() => durationMs("x".repeat(500))).toThrow(
      expect.objectContaining({ code: "DURATION_INVALID", details: { text: "x".repeat(100) } }),
    );
  });
});
