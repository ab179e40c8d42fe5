import { describe, expect, it } from "vitest";
import { defaultLimits } from "./limits.ts";
import { evaluatedJson, normalise, plainJson } from "./to-json.ts";

const copyOf = (value: unknown): unknown => normalise(value, "It").value;
const cyclic: Record<string, unknown> = { a: {} };
(cyclic.a as Record<string, unknown>).back = [cyclic];
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
};
class Money {
  readonly amount: number;
  readonly #cents = 99;
  constructor(amount: number) {
    this.amount = amount;
  }
  get cents(): number {
    return this.#cents;
  }
}
const boom = (): never => {
  throw new RangeError("out of reach");
};

describe("normalise", () => {
  it.each<[string, unknown, unknown]>([
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["undefined members", { a: undefined, b: 1 }, { b: 1 }],
    ["minus zero", [-0], [0]],
    ["a class instance", new Money(5), { amount: 5 }],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ["a toJSON", { toJSON: () => ({ kept: true }) }, { kept: true }],
    ["a toJSON that is told its key", { k: { toJSON: (key: string) => key } }, { k: "k" }],
    ["a toJSON inside an array that is told its index", [{ toJSON: (key: string) => key }], ["0"]],
    ["a toJSON at the root that is told an empty key", { toJSON: (key: string) => key }, ""],
    ["a member whose toJSON gives nothing", { a: { toJSON: () => undefined } }, {}],
    ["a URL", new URL("https://a.example/b"), "https://a.example/b"],
    [
      "getters",
      {
        get a() {
          return 1;
        },
      },
      { a: 1 },
    ],
    ["symbol keys", { [Symbol("s")]: 1, a: 1 }, { a: 1 }],
    ["hidden members", Object.defineProperty({ a: 1 }, "b", { value: 2 }), { a: 1 }],
    ["the same object twice", ((shared) => [shared, shared])({ a: 1 }), [{ a: 1 }, { a: 1 }]],
    ["nothing", undefined, null],
    ["a plain value", "text", "text"],
    ["large numbers", [1e21, 0.1, -5, 2 ** 53 + 2], [1e21, 0.1, -5, 2 ** 53 + 2]],
    ["keys that others inherit", { constructor: 1, toString: 2, hasOwnProperty: 3 }, { constructor: 1, toString: 2, hasOwnProperty: 3 }],
    ["a toJSON that is no function", { toJSON: 5, then: 5 }, { toJSON: 5, then: 5 }],
  ])("keeps %s as JSON would", (_, value, expected) => {
    expect(copyOf(value)).toEqual(expected);
  });

  it.each<[string, unknown, string, string]>([
    ["NaN", { a: [1, Number.NaN] }, "/a/1", "NaN"],
    ["infinity", { "a/b": { "~": Number.NEGATIVE_INFINITY } }, "/a~1b/~0", "-Infinity"],
    ["a BigInt", [1n], "/0", "a BigInt"],
    ["a function", { f: boom }, "/f", "a function"],
    ["a symbol", { s: Symbol("s") }, "/s", "a symbol"],
    ["a Map", { m: new Map() }, "/m", "a Map"],
    ["a typed array", { b: new Uint8Array(2) }, "/b", "a Uint8Array"],
    ["a Buffer", { b: Buffer.from("x") }, "/b", "a Uint8Array"],
    ["an ArrayBuffer", { b: new ArrayBuffer(2) }, "/b", "an? ArrayBuffer"],
    ["a SharedArrayBuffer", { b: new SharedArrayBuffer(2) }, "/b", "a SharedArrayBuffer"],
    ["a DataView", { b: new DataView(new ArrayBuffer(2)) }, "/b", "a DataView"],
    ["a RegExp", { r: /x/ }, "/r", "a RegExp"],
    ["a WeakMap", { r: new WeakMap() }, "/r", "a WeakMap"],
    ["a WeakSet", { r: new WeakSet() }, "/r", "a WeakSet"],
    ["a WeakRef", { r: new WeakRef({}) }, "/r", "a WeakRef"],
    ["a boxed symbol", { r: Object(Symbol("s")) }, "/r", "a Symbol"],
    ["a boxed BigInt", { r: Object(1n) }, "/r", "a BigInt"],
    ["a boxed number", { r: Object(1) }, "/r", "a Number object"],
    ["a boxed text", { r: Object("x") }, "/r", "a String object"],
    ["a promise", { p: Promise.resolve(1) }, "/p", "a promise"],
    ["an object with a then", { p: { then: boom } }, "/p", "a promise"],
    ["an object that inherits a then", { p: Object.create({ then: boom }) }, "/p", "a promise"],
    ["an error", { e: new TypeError("x") }, "/e", "an Error"],
    ["a cycle", cyclic, "/a/back/0", "a cycle"],
    [
      "a toJSON that gives itself",
      {
        x: {
          toJSON() {
            return this;
          },
        },
      },
      "/x",
      "a cycle",
    ],
    ["undefined in an array", [[undefined]], "/0/0", "undefined inside an array"],
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
    ["a hole in an array", [1, , 2], "/1", "a hole"],
    ["an array item whose toJSON gives nothing", [{ toJSON: () => undefined }], "/0", "undefined"],
    ["a lone surrogate", ["ab\ud800c"], "/0", "half a character"],
    ["a lone surrogate in a key", { "\udc00": 1 }, "/\udc00", "half a character"],
    ["an own __proto__ key", JSON.parse('{"a":{"__proto__":{"polluted":1}}}'), "/a/__proto__", "a key that would change the prototype"],
    ["an invalid date", { d: new Date(Number.NaN) }, "/d", "an invalid Date"],
    ["a getter that throws", Object.defineProperty({}, "a", { get: boom, enumerable: true }), "/a", "not readable \\(out of reach\\)"],
    ["a toJSON that throws", { a: { toJSON: boom } }, "/a", "not readable"],
    ["a revoked proxy", { a: revoked.proxy }, "/a", "not readable"],
    ["a proxy that throws", { a: new Proxy({}, { ownKeys: boom }) }, "/a", "not readable"],
    [
      "a thrown text",
      {
        a: {
          toJSON() {
            throw "text";
          },
        },
      },
      "/a",
      "not readable \\(text\\)",
    ],
    [
      "a thrown object that cannot be text",
      {
        a: {
          toJSON() {
            throw Object.create(null);
          },
        },
      },
      "/a",
      "not readable",
    ],
    [
      "a thrown revoked proxy",
      {
        a: {
          toJSON() {
            throw revoked.proxy;
          },
        },
      },
      "/a",
      "not readable",
    ],
  ])("refuses %s, and says where", (_, value, pointer, reason) => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    let thrown: unknown;
    try {
      normalise(value, "It");
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: "VALUE_NOT_JSON",
      details: { what: "It", pointer, reason: expect.stringMatching(new RegExp(reason)) },
    });
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("gives a copy that is frozen all the way down, and shares nothing", () => {
    const source = { list: [{ a: 1 }], deep: { b: {} } };
    const copy = copyOf(source) as typeof source;
    source.list[0]!.a = 2;
    source.list.push({ a: 3 });
    expect(copy).toEqual({ list: [{ a: 1 }], deep: { b: {} } });
    for (const part of [copy, copy.list, copy.list[0], copy.deep, copy.deep.b]) expect(Object.isFrozen(part)).toBe(true);
  });

  it("knows about how large a value is", () => {
    const value = { name: "Ada", tags: ["x", "y"], at: 1_700_000_000_000, none: null, yes: true };
    const { sizeBytes } = normalise(value, "It");
    expect(sizeBytes).toBeGreaterThanOrEqual(JSON.stringify(value).length * 0.7);
    expect(sizeBytes).toBeLessThanOrEqual(JSON.stringify(value).length * 1.5);
  });

  it.each<[string, unknown, number, number, string]>([
    ["depth", nested(65), 64, 65, "/0".repeat(64)],
    ["depth", nested(100_000), 64, 65, "/0".repeat(64)],
    ["keys", Array.from({ length: 100_001 }, () => 0), 100_000, 100_001, ""],
    ["keys", Object.fromEntries(Array.from({ length: 100_001 }, (_, i) => [`k${i}`, 0])), 100_000, 100_001, ""],
    ["stringLength", ["x".repeat(1024 * 1024 + 1)], 1024 * 1024, 1024 * 1024 + 1, "/0"],
    ["stringLength", { ["k".repeat(1024 * 1024 + 1)]: 1 }, 1024 * 1024, 1024 * 1024 + 1, `/${"k".repeat(1024 * 1024 + 1)}`],
  ])("refuses what passes the limit %s", (limit, value, max, actual, pointer) => {
    expect(() => normalise(value, "It")).toThrow(
      expect.objectContaining({ code: "LIMIT_EXCEEDED", details: { what: "It", limit, max, actual, pointer } }),
    );
  });

  it("refuses a value of more than 2 MiB in all", () => {
    const part = "x".repeat(1024 * 1024 - 10);
    expect(() => normalise([part, part], "It")).not.toThrow();
    expect(() => normalise([part, part, part], "It")).toThrow(/valueBytes/);
  });

  it("takes a value at its limits, and other limits when told so", () => {
    expect(() => normalise(nested(64), "It")).not.toThrow();
    expect(() =>
      normalise(
        Array.from({ length: 100_000 }, () => 0),
        "It",
      ),
    ).not.toThrow();
    expect(() => normalise(nested(3), "It", { ...defaultLimits, depth: 2 })).toThrow(/depth/);
    expect(() => normalise({ a: 1, b: [1, 2] }, "It", { ...defaultLimits, keys: 3 })).toThrow(/keys/);
  });
});

describe("plainJson", () => {
  it("copies and freezes what is plain JSON", () => {
    const source = { a: [1, "x", true, null, -5.5], b: Object.assign(Object.create(null), { c: {} }) };
    const { value } = plainJson(source, "It");
    expect(value).toEqual({ a: [1, "x", true, null, -5.5], b: { c: {} } });
    expect(value).not.toBe(source);
    expect(Object.isFrozen(value)).toBe(true);
  });

  class Nameless {}
  Object.defineProperty(Nameless, "name", { value: "" });
  it.each<[string, unknown, string, string]>([
    ["a date", { d: new Date(0) }, "/d", "an instance of Date"],
    ["a class instance", [new Money(1)], "/0", "an instance of Money"],
    ["an instance of a class without a name", [new Nameless()], "/0", "an instance of a class"],
    ["an instance whose constructor is gone", [Object.create({ constructor: 1 })], "/0", "an instance of a class"],
    ["an undefined member", { a: undefined }, "/a", "undefined"],
    ["a toJSON", { toJSON: () => 1 }, "/toJSON", "a function"],
    ["NaN", Number.NaN, "", "NaN"],
    ["a cycle", cyclic, "/a/back/0", "a cycle"],
    ["an own __proto__ key", JSON.parse('{"__proto__":1}'), "/__proto__", "prototype"],
    ["a then", { then: boom }, "", "a promise"],
  ])("refuses %s", (_, value, pointer, reason) => {
    expect(() => plainJson(value, "It")).toThrow(
      expect.objectContaining({ code: "VALUE_NOT_JSON", details: { what: "It", pointer, reason: expect.stringContaining(reason) } }),
    );
  });

  it("takes every value that JSON text can hold, also minus zero", () => {
    expect(plainJson(JSON.parse('{"a":-0}'), "It").value).toEqual({ a: 0 });
  });
});

describe("evaluatedJson", () => {
  it("puts null where a list that an expression has made has no value, and drops undefined members, as JSON does", () => {
    const holes = new Array<unknown>(1);
    const value = [undefined, { phone: undefined, tags: [undefined, "a"] }, holes];
    expect(evaluatedJson(value, "It")).toEqual({ value: [null, { tags: [null, "a"] }, [null]], sizeBytes: expect.any(Number) });
    expect(JSON.stringify(evaluatedJson(value, "It").value)).toBe(JSON.stringify(value));
    expect(evaluatedJson(undefined, "It").value).toBe(null);
  });

  it("refuses what JSON cannot hold, as normalise does", () => {
    expect(() => evaluatedJson([() => undefined], "It")).toThrow(expect.objectContaining({ code: "VALUE_NOT_JSON" }));
    expect(() => evaluatedJson([new Map()], "It")).toThrow("/0");
  });
});
