import { describe, expect, it } from "vitest";
import { seededRandom } from "./random.ts";

describe("chance that a seed decides", () => {
  it("gives the same numbers for the same seed, and others for another", () => {
    const take = (seed: string): number[] => {
      const random = seededRandom(seed);
      return Array.from({ length: 5 }, () => random.next());
    };
    expect(take("a")).toEqual(take("a"));
    expect(take("a")).not.toEqual(take("b"));
  });

  it("spreads evenly", () => {
    const random = seededRandom("even");
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 10_000; i++) counts[random.between(0, 3)]!++;
    for (const count of counts) expect(Math.abs(count - 2_500)).toBeLessThan(200);
    const hits = Array.from({ length: 10_000 }, () => random.chance(0.1)).filter(Boolean).length;
    expect(Math.abs(hits - 1_000)).toBeLessThan(150);
  });

  it("has forks that do not disturb one another", () => {
    const [one, other] = [seededRandom("s"), seededRandom("s")];
    one.fork("x").next();
    expect(one.next()).toBe(other.next());
    expect(one.fork("y").pick(["a", "b", "c"])).toBe(other.fork("y").pick(["a", "b", "c"]));
  });
});
