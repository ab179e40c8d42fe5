import { describe, expect, it } from "vitest";
import { Places, sharesOf } from "./places.ts";

const counts = [1, 2, 3, 7, 9, 10, 11, 19, 20, 25, 99, 100, 1_000];

describe("the places of a process", () => {
  it.each(counts)("%i: with a queue no origin takes those of another, and together they are no more", (places) => {
    const { all, here, told, found } = sharesOf(places, true);
    expect(here + told + found).toBe(all);
    expect(all).toBe(Math.max(2, places));
    expect(told).toBeGreaterThanOrEqual(1);
    expect(found).toBeGreaterThanOrEqual(1);
  });

  it.each(counts)("%i: without a queue each may take all but a tenth of the other's", (places) => {
    const { all, here, found } = sharesOf(places, false);
    expect(all).toBe(places);
    expect([here, found]).toEqual([found, here]);
    expect(places === 1 ? here : all - here).toBe(Math.ceil(places / 10));
  });

  it("are never more than all, whoever has them", () => {
    const places = new Places();
    expect(places.room("here")).toBe(0);
    places.shares = sharesOf(10, false);
    for (let i = 0; i < 9; i++) places.take("here");
    expect([places.room("here"), places.room("found")]).toEqual([0, 1]);
    places.take("found");
    expect([places.room("here"), places.room("found")]).toEqual([0, 0]);
    // what is claimed already is driven in any case
    places.take("found");
    places.leave("here");
    expect([places.room("here"), places.room("found")]).toEqual([0, 0]);
    places.leave("found");
    expect([places.room("here"), places.room("found")]).toEqual([1, 1]);
  });
});
