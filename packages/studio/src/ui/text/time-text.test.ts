import { describe, expect, test } from "vitest";
import { ageText, clockText, countdownText, dayText, durationText, isoText, timeText } from "./time-text.ts";

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

test.each([
  [-5, "0 ms"],
  [38.4, "38 ms"],
  [11_200, "11.2 s"],
  [59_949, "59.9 s"],
  [59_980, "1 m"],
  [2 * minute + 10 * second, "2 m 10 s"],
  [3 * hour + 3 * minute, "3 h 3 m"],
  [4 * day + 7 * hour, "4 d 7 h"],
  [day, "1 d"],
])("%d ms took %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test.each([
  [-1, "0 s"],
  [12_900, "12 s"],
  [10 * minute, "10 m"],
  [47 * hour, "47 h"],
  [5 * day, "5 d"],
])("%d ms ago is %s", (ms, text) => {
  expect(ageText(ms)).toBe(text);
});

test.each([
  [-1, "0:00"],
  [250, "0:00"],
  [251, "0:01"],
  [1_000, "0:01"],
  [1_250, "0:01"],
  [3_250, "0:03"],
  [3_251, "0:04"],
  [hour + 57 * minute + 30 * second, "1:57:30"],
  [30 * hour, "30:00:00"],
  [2 * day + 2 * hour, "2 d 2 h"],
])("%d ms left are %s", (ms, text) => {
  expect(countdownText(ms)).toBe(text);
});

describe("times", () => {
  const now = new Date(2026, 10, 22, 10, 2, 31).getTime();

  test("today is a clock, other days have their date, other years their year", () => {
    expect(timeText(now, now)).toBe("10:02:31");
    expect(timeText(new Date(2026, 10, 21, 23, 59).getTime(), now)).toBe("21 Nov, 23:59");
    expect(dayText(new Date(2025, 0, 1).getTime(), now)).toBe("1 Jan 2025");
  });

  test("a number that is no time is shown as it is, and has no ISO text", () => {
    expect([clockText(1e300), dayText(1e300, now), timeText(Number.NaN, now)]).toEqual(["1e+300", "1e+300", "NaN"]);
    expect(isoText(1e300)).toBe("");
    expect(isoText(Date.UTC(2026, 0, 2))).toBe("2026-01-02T00:00:00.000Z");
  });
});
