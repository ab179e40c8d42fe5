import { describe, expect, it } from "vitest";
import { afterKey, dueSortKey, readSortKey, sortKeysUntil } from "./dynamo-keys.ts";

const keys = ["x", "X", "x ", " x", "x!", "%", "%20", "x%20", "%25", "é", "🙂", "\u0001", "x\n", "="];
const timed = (dueAt: number, key: string | null = null): string => dueSortKey({ key, dueAt, isAtOnce: false, made: "0" });
const atOnce = (dueAt: number): string => dueSortKey({ key: null, dueAt, isAtOnce: true, made: "0" });

describe("places in the index of due times", () => {
  it.each(keys)("tell the key %j and the time", (key) => {
    const made = "0000000000000005.0000000000000007";
    for (const isAtOnce of [true, false]) {
      const entry = { key, dueAt: 1_000_000, isAtOnce, made };
      expect(readSortKey(dueSortKey(entry))).toEqual(entry);
    }
  });

  it("stand together by their key, in order of time, and before what comes after the key", () => {
    const dueSorts = keys.flatMap((key) => [timed(1, key), timed(20, key), timed(3, key)]);
    const inOrder = dueSorts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))).map(readSortKey);
    const met = inOrder.map(({ key }) => key).filter((key, index, all) => key !== all[index - 1]);
    expect(met.toSorted()).toEqual(keys.toSorted());
    for (let at = 0; at < inOrder.length; at += 3) expect(inOrder.slice(at, at + 3).map(({ dueAt }) => dueAt)).toEqual([1, 3, 20]);
    for (const key of keys) {
      const after = Buffer.from(afterKey(key));
      expect(Buffer.compare(Buffer.from(timed(9_999_999, key)), after)).toBe(-1);
    }
  });

  it("of those without a permit have no key", () => {
    expect(readSortKey(timed(5, null))).toEqual({ key: null, dueAt: 5, isAtOnce: false, made: "0" });
  });

  it("refuse a key that is too long for an index", () => {
    expect(() => timed(1, "é".repeat(500))).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }));
    expect(timed(1, "€".repeat(255))).toHaveLength(255 + 1 + timed(1).length);
  });

  it("are in the range of what is due, and overdue if they have been due for so long", () => {
    const now = 1_000_000;
    const isIn = (dueSort: string, { from, to }: { readonly from: string; readonly to: string }): boolean =>
      from <= dueSort && dueSort <= to;
    expect([now - 60, now - 40, now + 1].map((time) => isIn(timed(time), sortKeysUntil(null, false, now - 50)))).toEqual([
      true,
      false,
      false,
    ]);
    expect([now - 60, now - 40].map((since) => isIn(atOnce(since), sortKeysUntil(null, true, now - 50)))).toEqual([true, false]);
    expect([timed(now), timed(now + 1), atOnce(now)].map((dueSort) => isIn(dueSort, sortKeysUntil(null, false, now)))).toEqual([
      true,
      false,
      false,
    ]);
    // executions due at once are in the range whatever the clock says
    expect(
      [atOnce(now), atOnce(now + 60), timed(1)].map((dueSort) => isIn(dueSort, sortKeysUntil(null, true, Number.MAX_SAFE_INTEGER))),
    ).toEqual([true, true, false]);
  });
});
