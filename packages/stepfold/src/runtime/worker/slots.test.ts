import { describe, expect, it } from "vitest";
import { Places, sharesOf } from "./slots.ts";

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

  it("are roomy with a quarter free, or with all that others leave", () => {
    const places = new Places();
    places.shares = sharesOf(20, false);
    for (let i = 0; i < 14; i++) places.take("found");
    expect(places.isRoomy("found")).toBe(false);
    places.leave("found");
    expect(places.isRoomy("found")).toBe(true);
    for (let i = 0; i < 13; i++) places.leave("found");
    for (let i = 0; i < 18; i++) places.take("here");
    expect([places.room("found"), places.isRoomy("found")]).toEqual([2, true]);
    places.take("found");
    expect([places.room("found"), places.isRoomy("found")]).toEqual([1, false]);
  });
});
