import { scrubber } from "../packages/stepfold/src/engine/secrets/scrubber.ts";
import { evaluate, type Program } from "../packages/stepfold/src/expressions/compile/evaluate.ts";
import { programOf } from "../packages/stepfold/src/expressions/compile-expression.ts";
import { defaultExpressionLimits } from "../packages/stepfold/src/expressions/evaluation/expression-limits.ts";
import { arrayCallbacks } from "../packages/stepfold/src/expressions/functions/array-callbacks.ts";
import { arrayMethods } from "../packages/stepfold/src/expressions/functions/array-methods.ts";
import { functions, namespaces } from "../packages/stepfold/src/expressions/functions/functions.ts";
import { numberMethods } from "../packages/stepfold/src/expressions/functions/number-methods.ts";
import { textMethods } from "../packages/stepfold/src/expressions/functions/text-methods.ts";
import { tokenize } from "../packages/stepfold/src/expressions/syntax/tokenize.ts";

// Compares the step counter of expressions with processor time: for every function it takes the most expensive known inputs and measures
// the time per counted step. `node bench/prices.ts` prints all cases, the most expensive first, and the spread.

/** The limits of an evaluation, so high that a case of any cost can be measured. */
const limits = { ...defaultExpressionLimits, steps: 1e12, outputLength: 1e12 };

const long = "aé".repeat(2_000);
const digits = `0.${"123456789".repeat(80)}`;
const huge = "1".repeat(300_000);
const doubles = Array.from({ length: 64 }, (_, i) => (i % 2 ? 1 : -1) * Math.PI ** (i % 2 ? i * 4 - 120 : 120 - i * 4));
const nested = Array.from({ length: 20 }).reduce<unknown>((inner, _, i) => ({ a: inner, b: [i, "text", null] }), 1);
const data = {
  doubles,
  tiny: Array.from({ length: 32 }, (_, i) => Number.MIN_VALUE * (i * 2 + 1)),
  small: Array.from({ length: 64 }, (_, i) => i),
  long,
  longs: Array.from({ length: 8 }, (_, i) => long + i),
  digits: Array.from({ length: 16 }, (_, i) => digits + i),
  huge: [huge, `0.${huge}`, `${huge}e-300000`],
  blanks: [" ".repeat(300_000), `${" ".repeat(300_000)}1`],
  ropes: [0, 1, 2],
  words: Array.from({ length: 64 }, (_, i) => `word ${i} `),
  dates: Array.from({ length: 16 }, (_, i) => `2026-11-${10 + i}T09:30:00.250+01:00`),
  encoded: Array.from({ length: 8 }, (_, i) => encodeURIComponent(long.slice(i))),
  composed: Array.from({ length: 8 }, (_, i) => "ﷺé".repeat(500 + i)),
  lists: Array.from({ length: 8 }, () => Array.from({ length: 500 }, (_, j) => (j * 7919) % 500)),
  textLists: Array.from({ length: 8 }, () => Array.from({ length: 200 }, (_, j) => `item ${(j * 7919) % 200}`)),
  objects: Array.from({ length: 8 }, (_, i) => Object.fromEntries(Array.from({ length: 200 }, (__, j) => [`key${j}`, i * j]))),
  pairs: Array.from({ length: 8 }, (_, i) => Array.from({ length: 200 }, (__, j) => [`key${j}`, i])),
  nests: Array.from({ length: 8 }, () => nested),
  json: Array.from({ length: 8 }, () => JSON.stringify({ list: Array.from({ length: 200 }, (_, i) => i / 7), nested })),
  deepJson: Array.from({ length: 8 }, (_, i) => `${"[".repeat(60)}${i}${"]".repeat(60)}`),
};

/** The name of a list in `data`, and the expression that is evaluated for each of its items `v`. */
type Case = readonly [items: keyof typeof data, call: string];
const of = (items: keyof typeof data, ...calls: readonly string[]): Case[] => calls.map((call) => [items, call]);

const cases: Record<string, readonly Case[]> = {
  "(an arrow function)": of("small", "1", "v + 1 > 2 && v < 5"),
  "(an operator)": [
    ...of("doubles", "v ** 0.1 % 3"),
    ...of("digits", "v - 1", "+v"),
    ...of("huge", "+v", "v > 1", "v == input.huge[0]"),
    ...of("blanks", "+v"),
    ...of("longs", "v == input.long", "v < input.long"),
    ...of("doubles", "'' + v", "`$" + "{v}`"),
  ],
  "(a member)": [...of("longs", "v[17]"), ...of("objects", "v['key' + 3]"), ...of("nests", "v.a.a.a.b")],
  "(a literal)": of("lists", "[...v]", "({ list: v, other: [v, v] })").concat(of("objects", "({ ...v })")),
  Number: [...of("digits", "Number(v)"), ...of("huge", "Number(v)"), ...of("blanks", "Number(v)"), ...of("words", "Number(v)")],
  String: [...of("doubles", "String(v)"), ...of("nests", "String(v)"), ...of("lists", "String(v)")],
  Boolean: of("doubles", "Boolean(v)"),
  parseInt: [
    ...of("digits", "parseInt(v.slice(2))", "parseInt(v.slice(2), 36)"),
    ...of("huge", "parseInt(v)", "parseInt(v, 7)", "parseInt(v, 32)"),
    ...of("doubles", "parseInt(v)"),
  ],
  parseFloat: of("digits", "parseFloat(v)").concat(of("huge", "parseFloat(v)"), of("blanks", "parseFloat(v)")),
  isNaN: of("digits", "isNaN(v)"),
  isFinite: of("digits", "isFinite(v)"),
  encodeURIComponent: of("longs", "encodeURIComponent(v)"),
  decodeURIComponent: of("encoded", "decodeURIComponent(v)"),
  "JSON.parse": [...of("json", "JSON.parse(v)"), ...of("deepJson", "JSON.parse(v)")],
  "JSON.stringify": [
    ...of("nests", "JSON.stringify(v)", "JSON.stringify(v, null, 10)"),
    ...of("lists", "JSON.stringify(v)"),
    ...of("longs", "JSON.stringify(v)"),
    ...of("doubles", "JSON.stringify(v)"),
    ...of("objects", "JSON.stringify(v)"),
  ],
  "Object.keys": of("objects", "Object.keys(v)"),
  "Object.values": of("objects", "Object.values(v)"),
  "Object.entries": of("objects", "Object.entries(v)"),
  "Object.fromEntries": of("pairs", "Object.fromEntries(v)"),
  "Object.hasOwn": of("objects", "Object.hasOwn(v, 'key7')"),
  "Array.isArray": of("lists", "Array.isArray(v)"),
  "date.parse": of("dates", "date.parse(v)"),
  "date.iso": of("dates", "date.iso(v)"),
  "date.format": of("dates", "date.format(v, 'yyyy-MM-dd HH:mm:ss.SSS')", `date.format(v, '${"MM ".repeat(200)}')`),
  "date.add": of("dates", "date.add(v, '1h30m')", "date.add(v, '1y 3 months 2 days 4h 5m 6s')"),
  "date.subtract": of("dates", "date.subtract(v, '3 months')"),
  "date.diff": of("dates", "date.diff(v, '2026-01-01', 'days')"),
  "date.startOf": of("dates", "date.startOf(v, 'month')", "date.startOf(v, 'hour')"),
  "toString of what is tiny": of(
    "tiny",
    "v.toString(2)",
    "v.toString(3)",
    "v.toString(36)",
    "v.toPrecision(100)",
    "v.toFixed(100)",
    "v.toString()",
  ),
  toFixed: of("doubles", "v.toFixed(100)", "v.toFixed(2)"),
  toPrecision: of("doubles", "v.toPrecision(100)", "v.toPrecision(3)"),
  toString: [
    ...of("doubles", "v.toString()", "v.toString(2)", "v.toString(36)"),
    ...of("lists", "v.toString()"),
    ...of("words", "v.toString()"),
  ],
  ...Object.fromEntries(
    ["toUpperCase", "toLowerCase", "trim", "trimStart", "trimEnd"].map((name) => [
      name,
      of("longs", `v.${name}()`).concat(of("words", `v.${name}()`), of("blanks", `v.${name}()`)),
    ]),
  ),
  normalize: [...of("longs", "v.normalize('NFD')"), ...of("composed", "v.normalize('NFKD')", "v.normalize('NFKC')")],
  includes: [...of("longs", "v.includes('aéaéaéb')"), ...of("lists", "v.includes(-1)"), ...of("textLists", "v.includes('item x')")],
  startsWith: of("longs", "v.startsWith(input.long)"),
  endsWith: of("longs", "v.endsWith(input.long)"),
  indexOf: [...of("longs", `v.indexOf('${"aé".repeat(100)}b')`), ...of("lists", "v.indexOf(-1)")],
  lastIndexOf: [...of("longs", `v.lastIndexOf('b${"aé".repeat(100)}')`), ...of("lists", "v.lastIndexOf(-1)")],
  slice: [...of("longs", "v.slice(1)"), ...of("lists", "v.slice(1)")],
  substring: of("longs", "v.substring(1, 3000)"),
  padStart: of("words", "v.padStart(2000, 'ab')"),
  padEnd: of("words", "v.padEnd(2000, 'ab')"),
  at: [...of("longs", "v.at(5)"), ...of("lists", "v.at(-1)")],
  charAt: of("longs", "v.charAt(5)"),
  charCodeAt: of("longs", "v.charCodeAt(5)"),
  codePointAt: of("longs", "v.codePointAt(5)"),
  repeat: of("words", "v.repeat(200)"),
  split: [...of("longs", "v.split('a')", "v.split('')"), ...of("words", "v.split(' ')")],
  replace: [...of("longs", "v.replace('b', 'c')"), ...of("words", "v.replace('w', 'W')")],
  replaceAll: [...of("longs", "v.replaceAll('a', 'bb')"), ...of("words", "v.replaceAll('o', '0')")],
  concat: [...of("longs", "v.concat(v, v)"), ...of("lists", "v.concat(v, 1)")],
  flat: of("pairs", "v.flat()"),
  join: [...of("lists", "v.join()"), ...of("doubles", "input.doubles.join()"), ...of("textLists", "v.join(', ')")],
  reverse: of("lists", "v.reverse()"),
  toReversed: of("lists", "v.toReversed()"),
  sort: [...of("lists", "v.sort()", "v.sort((a, b) => a - b)"), ...of("textLists", "v.sort()"), ...of("doubles", "input.doubles.sort()")],
  toSorted: of("lists", "v.toSorted((a, b) => b - a)"),
  ...Object.fromEntries(
    ["map", "filter", "flatMap", "find", "findIndex", "findLast", "findLastIndex", "some"].map((name) => [
      name,
      of("lists", `v.${name}((x) => x < 0)`),
    ]),
  ),
  every: of("lists", "v.every((x) => x >= 0)"),
  reduce: of("lists", "v.reduce((sum, x) => sum + x, 0)"),
  ...Object.fromEntries(
    [...namespaces.get("Math")!.keys()].map((name) => [
      `Math.${name}`,
      of("digits", `Math.${name}(v)`).concat(of("doubles", `Math.${name}(v, 2)`)),
    ]),
  ),
  ...Object.fromEntries(
    [...namespaces.get("Number")!.keys()].map((name) => [
      `Number.${name}`,
      name.startsWith("parse") ? of("digits", `Number.${name}(v)`) : of("doubles", `Number.${name}(v)`),
    ]),
  ),
};

/** Returns the microseconds per counted step: the best of several rounds, because other work on the machine only makes a round slower. */
function priceOf([items, call]: Case): number {
  const source = `input.${items}.map((v) => [${Array.from({ length: 8 }, () => call).join(", ")}]).length`;
  const tokens = tokenize(source, 0, false, 100_000);
  const { program }: { program: Program } = programOf(tokens, {
    ...{ pointer: undefined, names: undefined, isStored: false },
    limits: { ...limits, nodes: 10_000, sourceLength: 100_000 },
  });
  const scope = { input: data };
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round++) {
    let steps = 0;
    const from = performance.now();
    do {
      const budget = { stepsLeft: 1e12, outputLeft: 1e12 };
      evaluate(program, scope, budget);
      steps +=
        1e12 - budget.stepsLeft + (1e12 - budget.outputLeft) / (defaultExpressionLimits.outputLength / defaultExpressionLimits.steps);
    } while (performance.now() - from < 10);
    best = Math.min(best, ((performance.now() - from) * 1_000) / steps);
  }
  return best;
}

const known = [
  ...functions.keys(),
  ...[...namespaces].flatMap(([name, table]) => [...table.keys()].map((key) => `${name}.${key}`)),
  ...[textMethods, arrayMethods, arrayCallbacks, numberMethods].flatMap((table) => [...table.keys()]),
];
const missing = [...new Set(known)].filter((name) => cases[name] === undefined);
const priced = Object.entries(cases).flatMap(([name, all]) => all.map((one) => ({ name, call: one[1], price: priceOf(one) })));
priced.sort((a, b) => b.price - a.price);
for (const { name, call, price } of priced)
  console.log(`${price.toFixed(3).padStart(9)} us a step  ${name.padEnd(20)} ${call.slice(0, 50)}`);
const prices = priced.map(({ price }) => price);
const median = prices[Math.floor(prices.length / 2)]!;
console.log(
  `dearest ${prices[0]!.toFixed(3)}, median ${median.toFixed(3)}, cheapest ${prices.at(-1)!.toFixed(3)}; dearest / median ${(prices[0]! / median).toFixed(1)}`,
);
// redaction has no step counter, because its patterns run in the JavaScript engine. Here the length of the text is doubled, without the
// cut that messages get before redaction.
const scrub = scrubber(Array.from({ length: 50 }, (_, i) => `secret number ${i} with a tail`));
const texts = ["token:", "token: ", "password = ", "Bearer ", "://", "://a@", "secret number 7 ", "secret number 7 with a tail", " "];
for (const text of texts) {
  const [once, twice] = [20_000, 40_000].map((length) => bestMs(() => scrub(text.repeat(length / text.length))));
  console.log(
    `redaction of ${JSON.stringify(text).padEnd(30)} ${(once! * 50).toFixed(1).padStart(8)} ns a character, twice as much: x ${(twice! / once!).toFixed(2)}`,
  );
}

/** Returns the milliseconds of the best of several rounds. */
function bestMs(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 9; round++) {
    const from = performance.now();
    work();
    best = Math.min(best, performance.now() - from);
  }
  return best;
}

if (missing.length > 0) {
  console.error(`without a case: ${missing.join(", ")}`);
  process.exitCode = 1;
}
