import { describe, expect, it } from "vitest";
import { agoText, countdownText, durationText } from "./duration-text.ts";

describe("times", () => {
  it("read well at any size", () => {
    const durations = [0, 12.4, 999, 1_400, 9_949, 9_960, 59_400, 59_600, 200_000, 3_599_900, 3_600_000, 90_061_000];
    expect(durations.map(durationText)).toEqual([
      "0 ms",
      "12 ms",
      "999 ms",
      "1.4 s",
      "9.9 s",
      "10 s",
      "59 s",
      "1 min",
      "3 min 20 s",
      "60 min",
      "1 h",
      "1 d 1 h",
    ]);
    expect([-5, 400, 0].map(countdownText)).toEqual(["0.0 s", "0.4 s", "0.0 s"]);
    expect([10, 5_900, 65_000].map(agoText)).toEqual(["just now", "5 s ago", "1 min 5 s ago"]);
  });
});
