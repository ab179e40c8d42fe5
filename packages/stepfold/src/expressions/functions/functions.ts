import { payToParse, toJson, toNumber, toText } from "../evaluation/coerce.ts";
import { charge, type Frame, failEvaluation, grow } from "../evaluation/frame.ts";
import { plainCopy, setMember } from "../evaluation/plain-copy.ts";
import { isPlain, kindOf } from "../evaluation/read-member.ts";
import { type ListedFunction, textAt, wholeAt } from "./argument.ts";
import { dateFunctions } from "./date-functions.ts";

type Table = ReadonlyMap<string, ListedFunction>;

const number: ListedFunction = (frame, site, _, args) => (args.length === 0 ? 0 : toNumber(frame, site.position, args[0]));
const readFloat: ListedFunction = (frame, site, _, args) => Number.parseFloat(payToParse(frame, textAt(frame, site, args, 0)));
const readInteger: ListedFunction = (frame, site, _, args) =>
  Number.parseInt(payToParse(frame, textAt(frame, site, args, 0)), wholeAt(frame, site, args, 1, 0));

const encode =
  (change: (text: string) => string, problem: string): ListedFunction =>
  (frame, site, _, args) => {
    const text = textAt(frame, site, args, 0);
    // One UTF-16 code unit becomes at most nine characters, such as `%E2%82%AC`.
    grow(frame, text.length * 9);
    try {
      return change(text);
    } catch (cause) {
      return failEvaluation(frame, site.position, `${site.name}: ${problem}`, { cause });
    }
  };

/** Functions without a namespace: `Number(x)`. */
export const functions: Table = new Map<string, ListedFunction>([
  ["Number", number],
  ["String", (frame, site, _, args) => (args.length === 0 ? "" : toText(frame, site.position, args[0]))],
  ["Boolean", (_, __, ___, args) => Boolean(args[0])],
  ["parseInt", readInteger],
  ["parseFloat", readFloat],
  ["isNaN", (frame, site, _, args) => Number.isNaN(toNumber(frame, site.position, args[0]))],
  ["isFinite", (frame, site, _, args) => Number.isFinite(toNumber(frame, site.position, args[0]))],
  ["encodeURIComponent", encode(encodeURIComponent, "the text contains half a character (a lone surrogate)")],
  ["decodeURIComponent", encode(decodeURIComponent, "the text is not valid percent-encoding of UTF-8")],
]);

const calculate =
  (work: (...numbers: number[]) => number): ListedFunction =>
  (frame, site, _, args) => {
    charge(frame, args.length >>> 4);
    return work(...args.map((arg) => toNumber(frame, site.position, arg)));
  };

const math: Table = new Map<string, ListedFunction>(
  (
    ["abs", "ceil", "floor", "round", "trunc", "sign", "sqrt", "cbrt", "pow", "min", "max", "hypot", "exp", "log", "log2", "log10"] as const
  ).map((name) => [name, calculate(Math[name])]),
);

const check =
  (test: (value: unknown) => boolean): ListedFunction =>
  (_, __, ___, args) =>
    test(args[0]);

const numbers: Table = new Map<string, ListedFunction>([
  ["isInteger", check(Number.isInteger)],
  ["isSafeInteger", check(Number.isSafeInteger)],
  ["isFinite", check(Number.isFinite)],
  ["isNaN", check(Number.isNaN)],
  ["parseInt", readInteger],
  ["parseFloat", readFloat],
]);

/** Makes a function that lists the members of an object or array and pays for them. */
const list =
  (read: (value: Readonly<Record<string, unknown>>) => unknown[]): ListedFunction =>
  (frame, site, _, args) => {
    const [value] = args;
    if (!isPlain(value) && !Array.isArray(value))
      failEvaluation(frame, site.position, `Object.${site.name} needs an object, not ${kindOf(value)}`);
    const members = read(value as Readonly<Record<string, unknown>>);
    charge(frame, members.length);
    grow(frame, 24 * members.length);
    return members;
  };

const fromEntries: ListedFunction = (frame, site, _, args) => {
  const [pairs] = args;
  if (!Array.isArray(pairs)) failEvaluation(frame, site.position, `Object.fromEntries needs an array of pairs, not ${kindOf(pairs)}`);
  charge(frame, pairs.length);
  grow(frame, 16 * pairs.length);
  const result: Record<string, unknown> = {};
  for (let index = 0; index < pairs.length; index++) {
    const pair: unknown = pairs[index];
    if (!Array.isArray(pair)) failEvaluation(frame, site.position, `Object.fromEntries needs pairs [key, value], not ${kindOf(pair)}`);
    setMember(frame, site.position, result, textAt(frame, site, pair, 0), pair[1]);
  }
  return result;
};

const objects: Table = new Map<string, ListedFunction>([
  ["keys", list(Object.keys)],
  ["values", list(Object.values)],
  ["entries", list(Object.entries)],
  ["fromEntries", fromEntries],
  ["hasOwn", (frame, site, _, args) => isPlain(args[0]) && Object.hasOwn(args[0], textAt(frame, site, args, 1))],
]);

const parse: ListedFunction = (frame, site, _, args) => {
  const text = textAt(frame, site, args, 0);
  charge(frame, text.length >>> 7);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    failEvaluation(frame, site.position, "JSON.parse: this text is not JSON", { cause });
  }
  // Parsed text can hold what data never holds: a "__proto__" key, or nesting so deep that walking through it fails.
  return plainCopy(frame, site.position, value);
};

const stringify: ListedFunction = (frame, site, _, args) => {
  if (args[1] !== undefined && args[1] !== null) failEvaluation(frame, site.position, "JSON.stringify takes null as second argument here");
  if (args[0] === undefined) return undefined;
  return toJson(frame, site.position, args[0], indentOf(frame, site.position, args[2]));
};

function indentOf(frame: Frame, position: number, value: unknown): string {
  if (typeof value === "string") return value.slice(0, 10);
  return value === undefined ? "" : " ".repeat(Math.min(10, Math.max(0, Math.trunc(toNumber(frame, position, value)) || 0)));
}

/** Functions with a namespace: `Math.max(a, b)`. */
export const namespaces: ReadonlyMap<string, Table> = new Map<string, Table>([
  ["Math", math],
  ["Number", numbers],
  ["Object", objects],
  [
    "JSON",
    new Map<string, ListedFunction>([
      ["parse", parse],
      ["stringify", stringify],
    ]),
  ],
  ["Array", new Map<string, ListedFunction>([["isArray", check(Array.isArray)]])],
  ["date", dateFunctions],
]);

/** Constants with a namespace: `Math.PI`. */
export const constants: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map([
  [
    "Math",
    new Map([
      ["PI", Math.PI],
      ["E", Math.E],
    ]),
  ],
  [
    "Number",
    new Map([
      ["MAX_SAFE_INTEGER", Number.MAX_SAFE_INTEGER],
      ["MIN_SAFE_INTEGER", Number.MIN_SAFE_INTEGER],
      ["EPSILON", Number.EPSILON],
    ]),
  ],
]);
