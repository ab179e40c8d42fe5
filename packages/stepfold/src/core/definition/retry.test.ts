import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../../scripts/test/effort.ts";
import { hash32, seededShare } from "../values/hash/seeded.ts";
import { noRetry, retryDelayMs } from "./retry.ts";

const rule = { maxAttempts: 5, intervalMs: 1_000, backoff: "exponential", jitter: 0 } as const;

describe("retryDelayMs", () => {
  it("waits interval * 2^(attempt - 1), and stops after the last attempt", () => {
    expect([1, 2, 3, 4, 5, 6].map((attempt) => retryDelayMs(rule, attempt, "s"))).toEqual([1_000, 2_000, 4_000, 8_000, null, null]);
  });

  it("waits the same each time with a fixed backoff", () => {
    expect([1, 2, 4].map((attempt) => retryDelayMs({ ...rule, backoff: "fixed" }, attempt, "s"))).toEqual([1_000, 1_000, 1_000]);
  });

  it("makes two retries of maxAttempts 3", () => {
    const delays = [1, 2, 3].map((attempt) => retryDelayMs({ ...rule, maxAttempts: 3 }, attempt, "s"));
    expect(delays.filter((delay) => delay !== null)).toHaveLength(2);
  });

  it("never waits longer than maxInterval", () => {
    expect(retryDelayMs({ ...rule, maxIntervalMs: 1_500 }, 4, "s")).toBe(1_500);
  });

  it("makes one attempt where there is no policy", () => {
    expect(retryDelayMs(noRetry, 1, "s")).toBeNull();
  });

  it("gives a whole, finite number for every attempt of a very long series", () => {
    const attempts = fc.integer({ min: 1, max: 5_000 });
    fc.assert(
      fc.property(attempts, fc.constantFrom(0, 1, 1_000), fc.constantFrom(0, 0.5, 1), (attempt, intervalMs, jitter) => {
        const delay = retryDelayMs({ ...rule, maxAttempts: 10_000, intervalMs, jitter }, attempt, "s");
        expect(Number.isSafeInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: tries(300) },
    );
  });

  it("takes up to the jitter off, the same for the same seed", () => {
    const jittered = { ...rule, jitter: 0.4, maxAttempts: 100, backoff: "fixed" } as const;
    const delays = Array.from({ length: 200 }, (_, i) => retryDelayMs(jittered, 1, `order-${i}/0#1`)!);
    expect(delays).toEqual(Array.from({ length: 200 }, (_, i) => retryDelayMs(jittered, 1, `order-${i}/0#1`)));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(600);
    expect(Math.max(...delays)).toBeLessThanOrEqual(1_000);
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(350);
    expect(retryDelayMs(jittered, 1, "a")).not.toBe(retryDelayMs(jittered, 2, "a"));
  });
});

describe("seededShare", () => {
  it("spreads over [0, 1)", () => {
    const shares = Array.from({ length: 1_000 }, (_, i) => seededShare(`x${i}`));
    expect(shares.every((share) => share >= 0 && share < 1)).toBe(true);
    expect(shares.reduce((sum, share) => sum + share, 0) / 1_000).toBeCloseTo(0.5, 1);
    expect(new Set(Array.from({ length: 20_000 }, (_, i) => hash32(`0.${i}`))).size).toBeGreaterThan(19_990);
  });
});
