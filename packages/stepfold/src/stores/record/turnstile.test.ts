import { describe, expect, it } from "vitest";
import { turnstile } from "./turnstile.ts";

/** A place with a few things; each look takes one of them, unless there are none. */
function placeWith(...things: string[]) {
  let looks = 0;
  const look = async (): Promise<{ found: string[]; isAll: boolean }> => {
    looks++;
    await Promise.resolve();
    const found = things.splice(0, 1);
    return { found, isAll: found.length === 0 };
  };
  return { look, things, looks: () => looks };
}

describe("a turnstile", () => {
  it("gives each its own, and to those who came too late what the first of them found", async () => {
    const gate = turnstile();
    const { look, looks } = placeWith("a", "b");
    const found = await Promise.all(Array.from({ length: 10 }, () => gate.pass("x", 0, look)));
    expect(found.flat()).toEqual(["a", "b"]);
    expect(looks()).toBe(3);
  });

  it("lets whoever comes later look again", async () => {
    const gate = turnstile();
    const { look, things } = placeWith();
    expect(await Promise.all([gate.pass("x", 0, look), gate.pass("x", 0, look)])).toEqual([[], []]);
    things.push("a");
    expect(await gate.pass("x", 0, look)).toEqual(["a"]);
  });

  it("tells nothing about other places, nor about other things in the same place", async () => {
    const gate = turnstile();
    const [one, other] = [placeWith(), placeWith()];
    await Promise.all([
      gate.pass("x", 60, one.look),
      gate.pass("x", 0, one.look),
      gate.pass("x", null, one.look),
      gate.pass("y", 60, other.look),
    ]);
    expect([one.looks(), other.looks()]).toEqual([3, 1]);
  });

  it("goes on after one who failed", async () => {
    const gate = turnstile();
    const { look } = placeWith("a");
    const failed = gate.pass("x", 0, () => Promise.reject(new TypeError("no")));
    const found = gate.pass("x", 0, look);
    await expect(failed).rejects.toThrow("no");
    expect(await found).toEqual(["a"]);
  });
});
