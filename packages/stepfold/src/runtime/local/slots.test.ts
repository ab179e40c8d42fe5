import { describe, expect, it } from "vitest";
import { Slots, sharesOf } from "./slots.ts";

const counts = [1, 2, 3, 7, 9, 10, 11, 19, 20, 25, 99, 100, 1_000];

describe("the slots of a process", () => {
  it.each(counts)("%i: with a queue no origin takes those of another, and together they are no more", (slots) => {
    const { all, local, queued, polled } = sharesOf(slots, true);
    expect(local + queued + polled).toBe(all);
    expect(all).toBe(Math.max(2, slots));
    expect(queued).toBeGreaterThanOrEqual(1);
    expect(polled).toBeGreaterThanOrEqual(1);
  });

  it.each(counts)("%i: without a queue each may take all but a tenth of the other's", (slots) => {
    const { all, local, polled } = sharesOf(slots, false);
    expect(all).toBe(slots);
    expect([local, polled]).toEqual([polled, local]);
    expect(slots === 1 ? local : all - local).toBe(Math.ceil(slots / 10));
  });

  it("are never more than all, whatever they are used for", () => {
    const slots = new Slots();
    expect([slots.isOpen, slots.room("local"), slots.tryTake("local")]).toEqual([false, 0, null]);
    slots.open(sharesOf(10, false));
    const local = Array.from({ length: 9 }, () => slots.tryTake("local")!);
    expect([slots.room("local"), slots.room("polled")]).toEqual([0, 1]);
    const polled = slots.take("polled");
    expect([slots.room("local"), slots.room("polled")]).toEqual([0, 0]);
    // an execution that is claimed already runs in any case
    slots.take("polled");
    local[0]!.free();
    local[0]!.free();
    expect([slots.room("local"), slots.room("polled")]).toEqual([0, 0]);
    polled.free();
    expect([slots.room("local"), slots.room("polled")]).toEqual([1, 1]);
    slots.close();
    expect([slots.isOpen, slots.tryTake("local")]).toEqual([false, null]);
  });

  it("tell when they are free again", async () => {
    const slot = new Slots().take("queued");
    slot.free();
    await expect(slot.freed).resolves.toBeUndefined();
  });

  it("are roomy with a quarter free, or with all that the other origins leave", () => {
    const slots = new Slots();
    slots.open(sharesOf(20, false));
    const polled = Array.from({ length: 14 }, () => slots.take("polled"));
    expect(slots.isRoomy("polled")).toBe(false);
    polled.pop()!.free();
    expect(slots.isRoomy("polled")).toBe(true);
    for (const slot of polled) slot.free();
    for (let i = 0; i < 18; i++) slots.take("local");
    expect([slots.room("polled"), slots.isRoomy("polled")]).toEqual([2, true]);
    slots.take("polled");
    expect([slots.room("polled"), slots.isRoomy("polled")]).toEqual([1, false]);
  });
});
