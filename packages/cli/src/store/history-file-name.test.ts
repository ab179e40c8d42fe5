import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { historyFileName } from "./history-file-name.ts";

describe("the name of a history's file", () => {
  it("is safe for every id, and another one for every other id, whatever a disk makes of case and accents", () => {
    const anyText = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc.string({ unit: "grapheme", maxLength: 300 }),
      fc.stringMatching(/^[aA.%2eE~/\\]{0,5}$/),
    );
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        const [first, second] = [historyFileName(one), historyFileName(other)];
        expect(first).toMatch(/^[a-z0-9_%~-]{1,200}$/);
        expect(first === second).toBe(one === other);
      }),
      { numRuns: tries(500) },
    );
  });

  it("can be read where it can be", () => {
    expect(historyFileName("order-1")).toBe("order-1");
    expect(historyFileName("Order/é")).toBe("%4frder%2f%c3%a9");
    for (const id of ["../x", "..", ".", "a\\b", "C:\\x", "a b\n", "con", "\u0000", "%2e%2e", "~"]) {
      expect(decodeURIComponent(historyFileName(id))).toBe(id);
    }
    expect(historyFileName("../x")).toBe("%2e%2e%2fx");
    expect(historyFileName("nul")).toBe("%6eul");
    expect(historyFileName(`order${"é".repeat(100_000)}`)).toMatch(/^order~[0-9a-f]{40}$/);
    expect(historyFileName("")).toMatch(/^~[0-9a-f]{40}$/);
    expect(historyFileName("\ud800")).not.toBe(historyFileName("\ud801"));
  });
});
