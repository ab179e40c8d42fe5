import { describe, expect, it } from "vitest";
import { type Holder, type SeenHolder, standingOf } from "./permit-holders.ts";

const holder: Holder = { id: "a", incarnation: "i", fence: 3, until: 100 };
const seen: SeenHolder = { incarnation: "i", fence: 3, owner: "worker", leaseUntil: 200, now: 50 };

describe("one that was let in under a key", () => {
  it.each([
    ["held", "it is claimed", {}],
    ["held", "it is claimed, later than it was to be", { now: 150 }],
    ["held", "the claim is still to be made, or was not seen yet", { fence: 2, owner: null, leaseUntil: null, now: 99 }],
    ["lost", "the claim was never made", { fence: 2, owner: null, leaseUntil: null, now: 100 }],
    ["lost", "its lease has ended", { now: 200 }],
    ["gone", "it was given back", { owner: null, leaseUntil: null }],
    ["gone", "it was claimed again", { fence: 4 }],
    ["gone", "the id is that of another execution", { incarnation: "j" }],
  ] as const)("is %s when %s", (standing, _, change) => {
    expect(standingOf(holder, { ...seen, ...change })).toBe(standing);
  });

  it("is gone when the execution was deleted", () => {
    expect(standingOf(holder, null)).toBe("gone");
  });
});
