import { expect, test } from "vitest";
import { noon } from "../../test/rows.fixture.ts";
import { holderOf, holdingOf, holdingParts } from "./holding.ts";

const lease = { owner: "worker-3", until: noon, crashes: 0 };

test.each([
  ["as long as the lease lasts", noon - 10, noon - 1, "held by worker-3"],
  ["the lease has ended since it was told", noon - 10, noon + 1, "was held by worker-3 until 0:00"],
  ["the lease had ended when it was told", noon, noon + 1, "was held by worker-3 until 0:00, and nobody has taken it yet"],
])("%s", (_, toldAt, now, text) => {
  const told = holdingParts(holdingOf(lease, toldAt, now)).join("");
  expect(told.replace(/\d\d:00:00/, "0:00")).toBe(text);
});

test("without a lease nobody holds it", () => {
  expect(holdingParts(holdingOf(null, noon, noon)).join("")).toBe("nobody has taken it yet");
  expect(holdingOf(undefined, noon, noon)).toEqual({ kind: "none" });
});

test("a holder is only who holds it now", () => {
  expect([holderOf(holdingOf(lease, noon - 10, noon - 1)), holderOf(holdingOf(lease, noon - 10, noon))]).toEqual(["worker-3", null]);
});
