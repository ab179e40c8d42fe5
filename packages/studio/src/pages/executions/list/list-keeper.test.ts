import { expect, test } from "vitest";
import { ListKeeper } from "./list-keeper.ts";
import { type ListClient, ListModel } from "./list-model.ts";

const make = (): ListModel => new ListModel({} as ListClient, {}, { read: () => 0, synchronize: () => undefined });

test("whoever comes back soon finds the list as it was", () => {
  const keeper = new ListKeeper();
  const list = keeper.listOf("?status=failed", 0, make);
  [keeper.scrollTop, keeper.cursor] = [640, 20];
  keeper.leave(1_000);
  expect(keeper.listOf("?status=failed", 60_000, make)).toBe(list);
  expect([keeper.scrollTop, keeper.cursor]).toEqual([640, 20]);
});

test("while it is shown, it is the same list, however long", () => {
  const keeper = new ListKeeper();
  const list = keeper.listOf("", 0, make);
  expect(keeper.listOf("", 3_600_000, make)).toBe(list);
});

test("a list that was left long ago, or another one, begins anew", () => {
  const keeper = new ListKeeper();
  const list = keeper.listOf("", 0, make);
  [keeper.scrollTop, keeper.cursor] = [640, 20];
  keeper.leave(0);
  const later = keeper.listOf("", 300_001, make);
  expect(later).not.toBe(list);
  expect([keeper.scrollTop, keeper.cursor]).toEqual([0, -1]);
  keeper.leave(300_002);
  expect(keeper.listOf("?status=failed", 300_003, make)).not.toBe(later);
});
