import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { normalise, plainJson } from "../../src/core/values/to-json.ts";

class Row {
  readonly id: number;
  readonly made: Date;
  extra: unknown;
  constructor(id: number, made: Date, extra: unknown) {
    this.id = id;
    this.made = made;
    this.extra = extra;
  }
}

/** Values that code may hand over: JSON mixed with dates, instances, `toJSON` and values that JSON loses, at any depth. */
const { value: anything } = fc.letrec<{ value: unknown; leaf: unknown }>((tie) => ({
  leaf: fc.oneof(
    { weight: 12, arbitrary: fc.oneof(fc.integer(), fc.double(), fc.string({ unit: "grapheme" }), fc.boolean(), fc.constant(null)) },
    { weight: 1, arbitrary: fc.constant(-0) },
    { weight: 2, arbitrary: fc.date({ noInvalidDate: false }) },
    { weight: 1, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(
        1n,
        Symbol("s"),
        () => 1,
        new Map([[1, 2]]),
        new Uint8Array(1),
        /x/,
        new Error("e"),
        "\ud800",
        Number.NaN,
      ),
    },
  ),
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    tie("leaf"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom("toString", "constructor", "__proto__", "a/b", "~")),
      tie("value"),
      { maxKeys: 4 },
    ),
    fc.tuple(fc.integer(), fc.date({ noInvalidDate: true }), tie("value")).map(([id, made, extra]) => new Row(id, made, extra)),
    tie("value").map((inner) =>
      Object.assign(
        { toJSON: () => (typeof inner === "object" ? { inner } : inner) },
        { [fc.toStringMethod]: () => `toJSON(${fc.stringify(inner)})` },
      ),
    ),
  ),
}));

/** The value as JSON represents it, or null if JSON would lose a part of it. */
function faithful(value: unknown): { json: unknown } | null {
  let lost = false;
  const text = JSON.stringify({ value }, function (this: unknown, _key: string, member: unknown) {
    lost ||= loses(member, Array.isArray(this));
    return member;
  });
  return lost ? null : { json: (JSON.parse(text) as { value?: unknown }).value ?? null };
}

function loses(member: unknown, inArray: boolean): boolean {
  switch (typeof member) {
    case "boolean":
      return false;
    case "number":
      return !Number.isFinite(member);
    case "undefined":
      return inArray;
    case "string":
      return !member.isWellFormed();
    case "object":
      if (member === null) return false;
      if (member instanceof Map || member instanceof Uint8Array || member instanceof RegExp || member instanceof Error) return true;
      return !Array.isArray(member) && Object.keys(member).some((key) => key === "__proto__" || !key.isWellFormed());
    default:
      return true;
  }
}

function holdsInvalidDate(value: unknown): boolean {
  if (value instanceof Date) return Number.isNaN(value.getTime());
  if (typeof value !== "object" || value === null) return false;
  const { toJSON } = value as { toJSON?: () => unknown };
  return typeof toJSON === "function" ? holdsInvalidDate(toJSON.call(value)) : Object.values(value).some(holdsInvalidDate);
}

function frozen(value: unknown): boolean {
  return typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
}

describe("normalise, for any value", () => {
  it("gives what a JSON round trip gives, or refuses what the round trip would lose", () => {
    const members = Reflect.ownKeys(Object.prototype);
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(anything, (value) => {
        const expected = hasBigInt(value) || holdsInvalidDate(value) ? null : faithful(value);
        if (expected === null) {
          seen.refused++;
          expect(() => normalise(value, "It")).toThrow(StepfoldError);
          return;
        }
        seen.accepted++;
        const { value: copy } = normalise(value, "It");
        expect(JSON.stringify(copy)).toBe(JSON.stringify(expected.json));
        expect(frozen(copy)).toBe(true);
      }),
      { numRuns: tries(2_000) },
    );
    expect(Reflect.ownKeys(Object.prototype)).toEqual(members);
    expect(seen.accepted).toBeGreaterThan(tries(2_000) / 10);
    expect(seen.refused).toBeGreaterThan(tries(2_000) / 10);
  });

  it("gives the same again when it gets its own result, also where plain JSON is asked for", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(!JSON.stringify(value).includes("__proto__"));
        const once = normalise(value, "It");
        expect(normalise(once.value, "It")).toEqual(once);
        expect(plainJson(once.value, "It")).toEqual(once);
      }),
      { numRuns: tries(300) },
    );
  });

  it("never fails with anything but a StepfoldError, whatever fast-check thinks of", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withObjectString: true,
          withSparseArray: true,
          withTypedArray: true,
          withBoxedValues: true,
        }),
        (value) => {
          for (const read of [normalise, plainJson]) {
            try {
              const { value: copy } = read(value, "It");
              expect(JSON.stringify(JSON.parse(JSON.stringify(copy)))).toBe(JSON.stringify(copy));
            } catch (error) {
              if (!StepfoldError.is(error)) throw error;
            }
          }
        },
      ),
      { numRuns: tries(1_000) },
    );
  });
});

function hasBigInt(value: unknown): boolean {
  if (typeof value === "bigint") return true;
  if (typeof value !== "object" || value === null) return false;
  const { toJSON } = value as { toJSON?: () => unknown };
  return typeof toJSON === "function" ? hasBigInt(toJSON.call(value)) : Object.values(value).some(hasBigInt);
}
