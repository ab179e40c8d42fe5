import { describe, expect, it } from "vitest";
import { virtualEnvironment } from "../../testing/virtual-environment.ts";
import { LoadBudget, type Reservation } from "./load-budget.ts";

describe("the room for snapshots in a process", () => {
  const open = (maxBytes: number) => {
    const environment = virtualEnvironment();
    return { environment, budget: new LoadBudget(maxBytes, environment) };
  };

  it("is given at once while there is some, and then to those who wait, in their order", async () => {
    const { budget } = open(100);
    const first = (await budget.reserveWithin(60, 1_000))!;
    expect(budget.isFull).toBe(false);
    const given: string[] = [];
    const taken = new Map<string, Reservation>();
    const ask = async (name: string, bytes: number): Promise<void> => {
      taken.set(name, (await budget.reserveWithin(bytes, 1_000))!);
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
    const first = budget.tryReserve(60)!;
    expect(budget.tryReserve(50)).toBeNull();
    void budget.reserveWithin(50, 1_000);
    expect(budget.tryReserve(10)).toBeNull();
    first.free();
    expect(budget.tryReserve(10)).not.toBeNull();
  });

  it("is refused after a while, and those behind get theirs then", async () => {
    const { budget, environment } = open(100);
    budget.reserve(50);
    const large = budget.reserveWithin(80, 1_000);
    const small = budget.reserveWithin(10, 2_000);
    await environment.advance(1_000);
    expect(await large).toBeNull();
    expect(await small).not.toBeNull();
  });

  it("takes one that is larger than all of it when nothing else is held", async () => {
    const { budget } = open(100);
    const first = budget.reserve(1);
    const huge = budget.reserveWithin(1_000, 1_000);
    first.free();
    const reservation = await huge;
    expect(budget.isFull).toBe(true);
    reservation!.free();
    expect(budget.isFull).toBe(false);
  });

  it("follows what a snapshot grows to", async () => {
    const { budget } = open(100);
    const reservation = budget.reserve(10);
    reservation.resize(100);
    expect(budget.isFull).toBe(true);
    const next = budget.reserveWithin(50, 1_000);
    reservation.resize(50);
    expect(await next).not.toBeNull();
    reservation.free();
    reservation.resize(1_000);
    expect(await budget.reserveWithin(50, 1_000)).not.toBeNull();
  });
});
