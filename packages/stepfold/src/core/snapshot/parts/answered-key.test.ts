import { describe, expect, it } from "vitest";
import { type AnsweredKey, addKey, dayOf, forgetKey, heldKeys, type KeyRows, maxAnsweredKeys, maxHeldKeys } from "./answered-key.ts";

const dayMs = 24 * 60 * 60 * 1000;
const given = (version: number, day: number | null): AnsweredKey => ({
  command: "signal",
  key: `k${version}`,
  version,
  ...(day !== null && { at: day * dayMs + 5 }),
});

function keysAfter(count: number, day: (version: number) => number | null, keyRows?: KeyRows) {
  const keys: { answered: AnsweredKey[]; keyRows: KeyRows | undefined } = { answered: [], keyRows };
  for (let version = 1; version <= count; version++) addKey(keys, given(version, day(version)));
  return keys;
}

describe("the idempotency keys of an execution", () => {
  it("are in its snapshot, and their days are not noted, while they are few", () => {
    const keys = keysAfter(heldKeys, () => 3);
    expect(keys.answered).toHaveLength(heldKeys);
    expect(keys.keyRows).toBeUndefined();
  });

  it("have their days noted before any of them is moved: those of all keys, then of each new one, each once", () => {
    const first = keysAfter(heldKeys + 1, (version) => (version <= 10 ? 3 : 5));
    expect(first.keyRows).toEqual({ days: [3, 5], before: 0 });
    const { keyRows } = first;
    addKey(first, given(600, 5));
    expect(first.keyRows).toBe(keyRows);
    addKey(first, given(601, 4));
    expect(first.keyRows).toEqual({ days: [3, 4, 5], before: 0 });
  });

  it("from a time when it was not noted are on no day", () => {
    expect(keysAfter(heldKeys + 1, (version) => (version > heldKeys ? 7 : null)).keyRows).toEqual({ days: [7], before: 0 });
  });

  it("keep what is said of the rows", () => {
    const before = { days: [2], before: 40, refused: [3] };
    expect(keysAfter(heldKeys + 1, () => 6, before).keyRows).toEqual({ ...before, days: [2, 6] });
  });

  it("are the latest ones, if nobody moves the older ones", () => {
    const { answered } = keysAfter(maxAnsweredKeys + 2, () => 1);
    expect([answered.length, answered[0]!.version]).toEqual([maxAnsweredKeys, 3]);
  });

  it("are forgotten when what was given is refused: in the snapshot, or by a note if they are in a row", () => {
    const keys = keysAfter(3, () => 1, { days: [1], before: 2 });
    forgetKey(keys, 2);
    expect(keys.answered.map(({ version }) => version)).toEqual([1, 3]);
    expect(keys.keyRows).toEqual({ days: [1], before: 2 });
    forgetKey(keys, 1);
    forgetKey(keys, 0);
    expect(keys.keyRows).toEqual({ days: [1], before: 2, refused: [1, 0] });
    const none = keysAfter(1, () => 1);
    forgetKey(none, 1);
    expect(none).toEqual({ answered: [], keyRows: undefined });
  });

  it("notes only the latest refusals", () => {
    const keys = keysAfter(0, () => 1, { days: [1], before: 5_000 });
    for (let version = 0; version <= maxHeldKeys; version++) forgetKey(keys, version);
    expect([keys.keyRows!.refused!.length, keys.keyRows!.refused![0]]).toEqual([maxHeldKeys, 1]);
  });

  it("have the day of the year in UTC", () => {
    expect([dayOf(0), dayOf(dayMs - 1), dayOf(dayMs), dayOf(-1)]).toEqual([0, 0, 1, -1]);
  });
});
