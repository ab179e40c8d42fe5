import { createContext, runInContext } from "node:vm";

/** Makes a value anew for each use, because some values are large and some can be used only once. */
type Make = () => unknown;

const other = createContext({});
/** Makes a value in another realm, where classes such as `Object` and `Date` are different objects. */
const foreign = (source: string): unknown => runInContext(source, other);

const boom = (): never => {
  throw new RangeError("out of reach");
};

function nested(depth: number, member?: string): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = member === undefined ? [value] : { [member]: value };
  return value;
}

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function cycle(): unknown {
  const value: { list: unknown[] } = { list: [] };
  value.list.push({ back: value });
  return value;
}

class Lazy {
  get value(): never {
    return boom();
  }
}
Object.defineProperty(Lazy.prototype, "value", { enumerable: true });

/** Values that are refused at every place: JSON cannot hold them, or they would crash a naive walk through the value. */
export const refused: Readonly<Record<string, Make>> = {
  NaN: () => Number.NaN,
  Infinity: () => Number.POSITIVE_INFINITY,
  "minus Infinity": () => Number.NEGATIVE_INFINITY,
  "1e400 from JSON": () => JSON.parse("1e400"),
  "a BigInt": () => 1n,
  "a boxed BigInt": () => Object(1n),
  "a symbol": () => Symbol("s"),
  "a boxed symbol": () => Object(Symbol("s")),
  "a function": () => boom,
  "an async function": () => async () => 1,
  "a class": () => class Hidden {},
  "a bound function": () => boom.bind(null),
  "a Map": () => new Map([["a", 1]]),
  "a Set": () => new Set([1]),
  "a WeakMap": () => new WeakMap(),
  "a WeakSet": () => new WeakSet(),
  "a WeakRef": () => new WeakRef({}),
  "a Uint8Array": () => new Uint8Array(4),
  "a Float64Array": () => new Float64Array(2),
  "a BigInt64Array": () => new BigInt64Array(2),
  "a Buffer": () => Buffer.from("x"),
  "a DataView": () => new DataView(new ArrayBuffer(1)),
  "an ArrayBuffer": () => new ArrayBuffer(1),
  "a SharedArrayBuffer": () => new SharedArrayBuffer(1),
  "a RegExp": () => /(a+)+$/,
  "an Error": () => new Error("secret"),
  "an AggregateError": () => new AggregateError([new Error("x")]),
  "a boxed number": () => Object(5),
  "a boxed text": () => Object("x"),
  "a boxed boolean": () => Object(false),
  "an invalid Date": () => new Date(Number.NaN),
  "a promise": () => Promise.resolve(1),
  "a thenable": () => ({ then: () => undefined }),
  "an inherited thenable": () => Object.create({ then: () => undefined }),
  "a thenable that calls back with itself": () => {
    const value = { then: (done: (value: unknown) => void) => done(value) };
    return value;
  },
  "a lone high surrogate": () => "a\ud800",
  "a lone low surrogate": () => "\udc00b",
  "a lone surrogate in a key": () => ({ "\ud800": 1 }),
  "an own __proto__": () => JSON.parse('{"__proto__":{"polluted":true}}'),
  "a deep own __proto__": () => JSON.parse('{"a":{"b":[{"__proto__":{"polluted":true}}]}}'),
  "an own __proto__ of null": () => JSON.parse('{"__proto__":null}'),
  "a hole": () => new Array(1),
  "a sparse array": () => Object.assign([], { 5: 1 }),
  "a huge sparse array": () => Object.assign([], { length: 2 ** 32 - 1 }),
  "undefined in an array": () => [undefined],
  "a cycle": cycle,
  "a cycle through itself": () => {
    const list: unknown[] = [];
    list.push(list);
    return list;
  },
  "a getter that throws": () => Object.defineProperty({}, "a", { get: boom, enumerable: true }),
  "a getter that throws nothing readable": () =>
    Object.defineProperty({}, "a", {
      enumerable: true,
      get() {
        throw revoked({});
      },
    }),
  "a getter that gives ever more": () => {
    const make = (): object => Object.defineProperty({}, "more", { get: make, enumerable: true });
    return make();
  },
  "a toJSON that throws": () => ({ toJSON: boom }),
  "a toJSON that lies": () => ({ toJSON: () => Number.NaN }),
  "a toJSON that gives itself": () => ({
    toJSON() {
      return this;
    },
  }),
  "a toJSON that gives ever more": () => {
    const make = (): object => ({ toJSON: make });
    return make();
  },
  "a toJSON getter that throws": () => Object.defineProperty({}, "toJSON", { get: boom, enumerable: true }),
  "a then getter that throws": () => Object.defineProperty({}, "then", { get: boom }),
  "a toJSON that gives a function": () => ({ toJSON: () => boom }),
  "a revoked proxy": () => revoked({}),
  "a revoked array proxy": () => revoked([]),
  "a proxy that throws at ownKeys": () => new Proxy({ a: 1 }, { ownKeys: boom }),
  "a proxy that throws at get": () => new Proxy({ a: 1 }, { get: boom }),
  "a proxy that throws at getPrototypeOf": () => new Proxy({ a: 1 }, { getPrototypeOf: boom }),
  "a proxy with ever more members": () => {
    const make = (): object => new Proxy({ more: 1 }, { get: (_target, key) => (key === "more" ? make() : undefined) });
    return make();
  },
  "an array proxy with a false length": () => new Proxy([], { get: (_target, key) => (key === "length" ? 2 ** 31 : undefined) }),
  "a Map of another realm": () => foreign("new Map()"),
  "an Error of another realm": () => foreign("new Error('x')"),
  "an invalid Date of another realm": () => foreign("new Date(NaN)"),
  "a promise of another realm": () => foreign("Promise.resolve(1)"),
  "a boxed text of another realm": () => foreign("new String('x')"),
  "a RegExp of another realm": () => foreign("/x/"),
  "a Uint8Array of another realm": () => foreign("new Uint8Array(1)"),
  "a function of another realm": () => foreign("(() => 1)"),
  "depth 2,000": () => nested(2_000),
};

/** Values that are refused at every place, but are costly to make, so they are tried in fewer places. */
export const refusedLarge: Readonly<Record<string, Make>> = {
  "depth 100,000": () => nested(100_000),
  "depth 100,000 of objects": () => nested(100_000, "a"),
  "100,001 keys": () => Object.fromEntries(Array.from({ length: 100_001 }, (_, i) => [`k${i}`, 0])),
  "100,001 items": () => Array.from({ length: 100_001 }, () => 0),
  "100,001 keys in all": () => Array.from({ length: 1_001 }, () => Array.from({ length: 100 }, () => 0)),
  "a text of 2 MiB": () => "x".repeat(2 * 1024 * 1024),
  "3 MiB in all": () => Array.from({ length: 3 }, () => "x".repeat(1024 * 1024 - 1)),
  "a key of 2 MiB": () => ({ ["k".repeat(2 * 1024 * 1024)]: 1 }),
};

/** Values that are refused only where plain JSON is required; code may hand them over. */
export const refusedAsJson: Readonly<Record<string, Make>> = {
  undefined: () => ({ a: undefined }),
  "a Date": () => new Date(0),
  "a Date of another realm": () => foreign("new Date(0)"),
  "a toJSON": () => ({ toJSON: () => 1 }),
  "a URL": () => new URL("https://a.example/"),
  "an instance": () =>
    new (class Row {
      readonly id = 1;
    })(),
  "an instance with a getter": () => new Lazy(),
  "an object of another realm": () => foreign("({ a: 1 })"),
  "an object of a strange prototype": () => Object.create({ inherited: 1 }),
};

/** Functions that put a value inside another value. */
export const places: readonly ((value: unknown) => unknown)[] = [
  (value) => value,
  (value) => ({ a: value }),
  (value) => [value],
  (value) => ({ a: { b: [1, { c: value }] } }),
  (value) => [[[{ constructor: value }]]],
  (value) => ({ toString: value, z: 1 }),
  (value) => Object.assign(Object.create(null), { hasOwnProperty: value }),
];
