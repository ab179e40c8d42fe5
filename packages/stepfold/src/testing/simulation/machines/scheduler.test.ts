import { expect, it } from "vitest";
import { Breaks, nextMacrotask } from "../../../environment/system-environment.ts";
import { seededRandom } from "../random.ts";
import { Scheduler } from "./scheduler.ts";

it("runs what is due in order of time, and what follows from it before the next", async () => {
  const scheduler = new Scheduler(seededRandom("1"));
  const seen: string[] = [];
  for (const delayMs of [30, 10, 20, 10.4, 0])
    scheduler.after(delayMs, () => {
      seen.push(`${scheduler.nowMs}`);
      void Promise.resolve()
        .then(() => undefined)
        .then(() => seen.push(`after ${delayMs}`));
    });
  scheduler.after(15, () => seen.push("never"))();
  await scheduler.run(() => false, 25);
  expect(seen).toEqual(["0", "after 0", "10", "after 10", "11", "after 10.4", "20", "after 20"]);
  expect(scheduler).toMatchObject({ nowMs: 20, steps: 4 });
  await scheduler.run(() => false, 100);
  expect(seen.slice(8)).toEqual(["30", "after 30"]);
});

it("lets no time pass while code lets the rest of its process run", async () => {
  const scheduler = new Scheduler(seededRandom("1"));
  const seen: number[] = [];
  const breaks = new Breaks(() => scheduler.nowMs);
  for (let at = 0; at <= 2_000; at += 100)
    scheduler.after(at, () => {
      void nextMacrotask().then(() => seen.push(scheduler.nowMs - at));
      void Promise.resolve()
        .then(() => breaks.next())
        .then(() => seen.push(scheduler.nowMs - at));
    });
  await scheduler.run(() => false, 2_000);
  expect(seen).toEqual(Array.from({ length: 42 }, () => 0));
});

it("lets the seed decide what comes first at one moment", async () => {
  const orderOf = async (seed: string): Promise<string> => {
    const scheduler = new Scheduler(seededRandom(seed));
    let order = "";
    for (const name of "abcdef") scheduler.after(5, () => (order += name));
    await scheduler.run(() => false, 5);
    return order;
  };
  expect(await orderOf("x")).toBe(await orderOf("x"));
  expect(new Set(await Promise.all(["1", "2", "3", "4"].map(orderOf))).size).toBeGreaterThan(1);
});

it("keeps hundreds of entries in order", async () => {
  const random = seededRandom("many");
  const scheduler = new Scheduler(random.fork("order"));
  const seen: number[] = [];
  for (let i = 0; i < 500; i++) scheduler.after(random.between(0, 1_000), () => seen.push(scheduler.nowMs));
  await scheduler.run(() => false, 1_000);
  expect(seen).toHaveLength(500);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
});
