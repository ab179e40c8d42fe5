import { describe, expect, it } from "vitest";
import { timeScale } from "./time-scale.ts";

const [second, hour] = [1_000, 3_600_000];

describe("timeScale", () => {
  it("places times evenly, and keeps those outside at the ends", () => {
    const scale = timeScale([], 100, 300);
    expect([0, 100, 200, 300, 900].map((at) => scale.place(at))).toEqual([0, 0, 0.5, 1, 1]);
    expect(timeScale([], 100, 300, 0.9).place(300)).toBeCloseTo(0.9);
    expect(timeScale([], 100, 100).place(100)).toBe(0);
  });

  it("folds a long time in which nothing happens, and gives its room to what does", () => {
    const begin = 1_000_000;
    const scale = timeScale([begin, begin + 10 * second, begin + 3 * hour], begin, begin + 3 * hour + 10 * second);
    expect(scale.folds).toHaveLength(1);
    expect(scale.folds[0]).toMatchObject({ ms: 3 * hour - 10 * second });
    expect(scale.place(begin + 10 * second)).toBeGreaterThan(0.4);
    expect(scale.place(begin + 3 * hour)).toBeLessThan(0.6);
    const places = [0, 5, 10, 11].map((seconds) => scale.place(begin + seconds * second));
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  it("folds nothing that is short, or not much longer than the rest", () => {
    expect(timeScale([0, 1, 9_000], 0, 9_001).folds).toEqual([]);
    expect(timeScale([0, 30 * second, 60 * second], 0, 90 * second).folds).toEqual([]);
    // nothing would be left to show
    expect(timeScale([], 0, hour).folds).toEqual([]);
  });

  it("gives round times, as many as there is room for", () => {
    const begin = Date.UTC(2026, 0, 1, 10, 0, 3);
    const ticks = timeScale([], begin, begin + 60 * second).ticks(700, 100);
    expect(ticks.length).toBeGreaterThan(2);
    expect(ticks.length).toBeLessThanOrEqual(7);
    const step = ticks[1]! - ticks[0]!;
    expect([10 * second, 15 * second]).toContain(step);
    expect(ticks.every((at) => at % step === 0)).toBe(true);
    expect(timeScale([], begin, begin + 60 * second).ticks(20, 100)).toEqual([]);
  });

  it("stays cheap and in order for many moments and hostile times", () => {
    const moments = Array.from({ length: 20_000 }, (_, index) => (index * 7_919) % 1_000_003);
    const scale = timeScale([...moments, Number.NaN, Number.POSITIVE_INFINITY, -5], 0, 1_000_003);
    expect(scale.place(500_000)).toBeGreaterThan(0.3);
    expect(scale.ticks(1_000, 100).length).toBeLessThan(20);
  });
});
