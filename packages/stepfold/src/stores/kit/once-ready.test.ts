import { describe, expect, it } from "vitest";
import { onceReady } from "./once-ready.ts";

describe("what is prepared once", () => {
  it("is prepared by the first call, and again after it failed", async () => {
    let calls = 0;
    const ready = onceReady(async () => {
      calls += 1;
      if (calls === 1) throw new TypeError("away");
      return calls;
    });
    await expect(ready()).rejects.toThrow("away");
    expect(await Promise.all([ready(), ready()])).toEqual([2, 2]);
    expect(await ready()).toBe(2);
  });

  it("AUDIT 5: is prepared again where it takes too long, so that one silent connection stops nothing", async () => {
    let now = 0;
    let calls = 0;
    const ready = onceReady(
      () => {
        calls += 1;
        return calls === 1 ? new Promise<number>(() => undefined) : Promise.resolve(calls);
      },
      () => now,
    );
    void ready();
    now = 9_999;
    void ready();
    expect(calls).toBe(1);
    now = 10_000;
    expect(await ready()).toBe(2);
    now = 100_000;
    expect(await ready()).toBe(2);
  });
});
