import { describe, expect, it } from "vitest";
import { virtualEnvironment } from "../../testing/virtual-environment.ts";
import { LoadBudget, type Room } from "./load-budget.ts";

describe("the room for snapshots in a process", () => {
  const open = (maxBytes: number) => {
    const environment = virtualEnvironment();
    return { environment, budget: new LoadBudget(maxBytes, environment) };
  };

  it("is given at once while there is some, and then to those who wait, in their order", async () => {
    const { budget } = open(100);
    const first = (await budget.takeWithin(60, 1_000))!;
    expect(budget.isFull).toBe(false);
    const given: string[] = [];
    const taken = new Map<string, Room>();
    const ask = async (name: string, bytes: number): Promise<void> => {
      taken.set(name, (await budget.takeWithin(bytes, 1_000))!);
      given.push(name);
    };
    const asked = [ask("large", 80), ask("small", 10)];
    await Promise.resolve();
    // the small request would fit, but it comes after the large one, which has waited longer
    expect({ given, isFull: budget.isFull }).toEqual({ given: [], isFull: true });
    first.free();
    first.free();
    await Promise.all(asked);
    expect(given).toEqual(["large", "small"]);
    expect(budget.isFull).toBe(false);
  });

  it("is taken at once or not at all, and never before those who wait", () => {
    const { budget } = open(100);
    const first = budget.tryTake(60)!;
    expect(budget.tryTake(50)).toBeNull();
    void budget.takeWithin(50, 1_000);
    expect(budget.tryTake(10)).toBeNull();
    first.free();
    expect(budget.tryTake(10)).not.toBeNull();
  });

  it("is refused after a while, and those behind get theirs then", async () => {
    const { budget, environment } = open(100);
    budget.take(50);
    const large = budget.takeWithin(80, 1_000);
    const small = budget.takeWithin(10, 2_000);
    await environment.advance(1_000);
    expect(await large).toBeNull();
    expect(await small).not.toBeNull();
  });

  it("takes one that is larger than all of it when nothing else is held", async () => {
    const { budget } = open(100);
    const first = budget.take(1);
    const huge = budget.takeWithin(1_000, 1_000);
    first.free();
    const room = await huge;
    expect(budget.isFull).toBe(true);
    room!.free();
    expect(budget.isFull).toBe(false);
  });

  it("follows what a snapshot grows to", async () => {
    const { budget } = open(100);
    const room = budget.take(10);
    room.resize(100);
    expect(budget.isFull).toBe(true);
    const next = budget.takeWithin(50, 1_000);
    room.resize(50);
    expect(await next).not.toBeNull();
    room.free();
    room.resize(1_000);
    expect(await budget.takeWithin(50, 1_000)).not.toBeNull();
  });
});
