import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Silence } from "./silence.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("tells once that nothing was heard for the time", () => {
  const silent = vi.fn();
  const silence = new Silence(5_000, silent);
  vi.advanceTimersByTime(60_000);
  expect(silent).not.toHaveBeenCalled();
  silence.begin();
  for (let i = 0; i < 20; i++) {
    vi.advanceTimersByTime(4_000);
    silence.heard();
  }
  expect(silent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(4_000);
  expect(silence.forMs).toBe(4_000);
  vi.advanceTimersByTime(60_000);
  expect(silent).toHaveBeenCalledTimes(1);
});

it("counts no time in which this process itself did not run", () => {
  const silent = vi.fn();
  const silence = new Silence(5_000, silent);
  silence.begin();
  vi.advanceTimersByTime(2_000);
  // the machine slept: the clock has moved, and a timer fires once
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersByTime(1_000);
  expect(silence.forMs).toBe(3_000);
  silence.heard();
  vi.advanceTimersByTime(4_000);
  expect(silent).not.toHaveBeenCalled();
  silence.end();
  vi.advanceTimersByTime(60_000);
  expect(silent).not.toHaveBeenCalled();
});
