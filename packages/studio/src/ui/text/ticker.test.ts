import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Ticker } from "./ticker.ts";
import { countdownText } from "./time-text.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 10_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

test("it ticks once a second by the clock of the server, as long as somebody looks", () => {
  const ticker = new Ticker();
  ticker.synchronize(50_000);
  const seen: number[] = [];
  const stop = ticker.subscribe(() => seen.push(ticker.getNow()));
  vi.advanceTimersByTime(2_500);
  stop();
  vi.advanceTimersByTime(2_500);
  expect([seen, ticker.getNow(), ticker.read()]).toEqual([[51_000, 52_000], 52_000, 55_000]);
});

test("a wait of a second that begins between two ticks does not begin with two seconds", () => {
  const ticker = new Ticker();
  ticker.subscribe(() => undefined);
  vi.advanceTimersByTime(900);
  const until = ticker.read() + 1_000;
  ticker.refresh();
  expect(countdownText(until - ticker.getNow())).toBe("0:01");
  // news that say when they were written, on another clock
  ticker.synchronize(70_000);
  expect(countdownText(71_000 - ticker.getNow())).toBe("0:01");
});
