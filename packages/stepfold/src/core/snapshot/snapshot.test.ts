import { expect, it } from "vitest";
import { isStatus, isTerminal, statuses } from "./snapshot.ts";

it("statuses are known by their names, whatever a query string says", () => {
  expect(["paused", "lost", "", null, 7, "Paused"].map(isStatus)).toEqual([true, false, false, false, false, false]);
  expect(statuses.every(isStatus)).toBe(true);
  expect(statuses.filter(isTerminal)).toEqual(["completed", "failed", "cancelled"]);
});
