import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { defaultExpressionLimits, expressionLimits } from "../../src/expressions/evaluation/expression-limits.ts";
import type { Frame } from "../../src/expressions/evaluation/frame.ts";
import { charge } from "../../src/expressions/evaluation/frame.ts";
import { allExtraFunctions } from "../../src/expressions/extra/all-extra-functions.ts";
import type { Callback, ListedFunction } from "../../src/expressions/functions/argument.ts";
import { arrayCallbacks } from "../../src/expressions/functions/array-callbacks.ts";
import { arrayMethods } from "../../src/expressions/functions/array-methods.ts";
import { provideExtraFunctions } from "../../src/expressions/functions/extra-functions.ts";
import { functions, namespaces } from "../../src/expressions/functions/functions.ts";
import { numberMethods } from "../../src/expressions/functions/number-methods.ts";
import { operators } from "../../src/expressions/functions/operate.ts";
import { textMethods } from "../../src/expressions/functions/text-methods.ts";
import { type PatternValue, readPattern } from "../../src/expressions/pattern/pattern-value.ts";

provideExtraFunctions(allExtraFunctions);

/** Something that is called with values of a size, and whose work must be paid for. Returns what the call has cost. */
export interface Swept {
  readonly name: string;
  /** The calls that are tried. Each prepares its values and returns what makes the call; the call returns its price, or null if it is refused. */
  readonly calls: readonly Call[];
}

export interface Call {
  readonly what: string;
  prepare(factor: number): () => number | null;
}

/** What was found out about one call. */
export interface Finding {
  readonly what: string;
  /** The time of a call with small and with large values, in milliseconds, the best of several. */
  readonly times: readonly [small: number, large: number];
  /** What these calls cost, in units. */
  readonly costs: readonly [small: number, large: number];
}

/** Large values are this many times as large as small ones. */
const growth = 8;
/** A call that is faster than this, with large values, is not looked at: its time says nothing. */
export const leastMs = 0.1;
/** How many times the median a unit may take. */
const dearest = 50;

const [letters, items] = [25_000, 4_000];

/** A text in one piece: `repeat` alone gives a text whose pieces the platform joins when it is read first. */
export function textOf(part: string, factor: number): string {
  return JSON.parse(JSON.stringify(part.repeat((letters * factor) / part.length))) as string;
}

const list = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => item(index));
const wide = (count: number): object => Object.fromEntries(list(count, (i) => [`k${i}`, i]));
const pattern = (source: string, flags = "g"): PatternValue => readPattern(source, flags) as PatternValue;

/** Values that grow, by name. */
const growing = {
  words: (by: number) => textOf("Ab c ", by),
  tags: (by: number) => textOf("<a> <", by),
  digits: (by: number) => textOf("12345", by),
  percents: (by: number) => textOf("%41%C", by).replaceAll("%C", "%20"),
  json: (by: number) => `[${textOf("1,2, ", by)}1]`,
  base64: (by: number) => textOf("QUJD", by),
  accents: (by: number) => textOf("e\u0301o\u0308 ", by),
  formats: (by: number) => textOf("yyyy ", by),
  quotes: (by: number) => textOf("'' ''", by),
  dollars: (by: number) => textOf("$&$< ", by),
  numbers: (by: number) => list(items * by, (i) => (i * 7919) % 1000),
  texts: (by: number) => list(items * by, (i) => `t${(i * 7919) % 1000}`),
  objects: (by: number) => list(items * by, (i) => ({ a: i, b: `${i}` })),
  pairs: (by: number) => list(items * by, (i) => [`k${i}`, i]),
  lists: (by: number) => list(items * by, (i) => [i]),
  empties: (by: number) => list(50, () => wide((items * by) / 50)),
  object: (by: number) => wide(items * by),
} as const;
type Growing = keyof typeof growing;

/** Values that stay small, by name. */
const small = {
  ...{ nothing: undefined, null: null, zero: 0, two: 2, many: 1_000, letter: "b", blank: " ", empty: "", key: "k1", member: "a" },
  ...{ time: "2022-01-01T15:04:05.067Z", days: "days", day: "day", span: "2 days", digest: "sha256", form: "NFKD", percent: "%41" },
} as const;
type Small = keyof typeof small;

const patterns = {
  word: pattern("b+"),
  group: pattern("(b)( c*)"),
  ahead: pattern("x(?= c)", ""),
} as const;
type Name = Growing | Small | keyof typeof patterns;

/** The values that were made so far, by their names and sizes. No function changes a value. */
const made = new Map<string, unknown>();

function givenValue(name: Name, by: number): unknown {
  if (name in growing) {
    const key = `${name} ${by}`;
    if (!made.has(key)) made.set(key, growing[name as Growing](by));
    return made.get(key);
  }
  return name in small ? small[name as Small] : patterns[name as keyof typeof patterns];
}

const names = <T extends Record<string, unknown>>(values: T): (keyof T & string)[] => Object.keys(values) as (keyof T & string)[];
const texts: readonly Growing[] = ["words", "tags", "digits", "percents", "json", "base64", "accents", "formats", "quotes", "dollars"];
const lists: readonly Growing[] = ["numbers", "texts", "objects", "pairs", "lists", "empties"];

/** Which arguments are tried: none, each value alone, and what belongs together. */
const argumentsTried: readonly (readonly Name[])[] = [
  [],
  ...names(growing).map((name): Name[] => [name]),
  ...names(small).map((name): Name[] => [name]),
  ...(["words", "json", "texts", "objects", "object"] as const).flatMap((name): Name[][] => [
    [name, "letter"],
    ["letter", name],
    [name, name],
    [name, "two"],
  ]),
  ...([
    ["letter", "words"],
    ["blank", "letter"],
    ["blank", "dollars"],
    ["empty", "letter"],
    ["many", "letter"],
    ["many", "words"],
  ] as Name[][]),
  ...([
    ["time", "formats"],
    ["time", "quotes"],
    ["time", "time", "days"],
    ["time", "day"],
    ["time", "span"],
    ["zero", "two"],
  ] as Name[][]),
  ...([
    ["object", "null", "two"],
    ["object", "key"],
    ["key", "objects"],
    ["member", "key"],
    ["two", "object", "letter"],
  ] as Name[][]),
];

/** The budget of a call. It ends what would take forever, and is four times the budget of an expression. */
const limits = expressionLimits(4 * defaultExpressionLimits.steps);

function frameOf(): Frame {
  return {
    unit: { source: "swept", pointer: undefined, limits, offset: 0, isStored: false },
    scope: { $now: 1_641_049_445_067, seed: () => "seed" },
    locals: [],
    stepsLeft: limits.steps,
    outputLeft: limits.outputLength,
    draws: 0,
  };
}

/** The price of a call: its steps, and its output at the rate at which a budget has it. Null if the call was refused. */
function priced(call: (frame: Frame) => unknown): number | null {
  const frame = frameOf();
  let isRefused = false;
  try {
    call(frame);
  } catch (error) {
    if (!StepfoldError.is(error)) throw error;
    isRefused = true;
  }
  const price = limits.steps - frame.stepsLeft + (limits.outputLength - frame.outputLeft) / 16;
  // what was refused for nothing has done nothing; the refusal of a long text may have read it
  return isRefused && price === 0 ? null : price;
}

/** What every arrow function costs at least. It gives a number, so that it also compares. */
const callback: Callback = (frame) => {
  charge(frame, 1);
  return 1;
};

function callOf(run: ListedFunction, name: string, self: Name, args: readonly Name[], own: Callback | null): Call {
  return {
    what: `${self}.${name}(${args.join(", ")})${own ? " with an arrow function" : ""}`,
    prepare(by) {
      const [given, ...others] = [self, ...args].map((one) => givenValue(one, by));
      return () => priced((frame) => run(frame, { name: name.split(".").at(-1)!, position: 0, callback: own }, given, others));
    },
  };
}

function sweptFunction(
  name: string,
  run: ListedFunction,
  selves: readonly Name[],
  { tried = argumentsTried, callbacks = [null] as readonly (Callback | null)[] } = {},
): Swept {
  const calls = callbacks.flatMap((own) => selves.flatMap((self) => tried.map((args) => callOf(run, name, self, args, own))));
  return { name, calls };
}

/** Functions that take a pattern, and the arguments that are tried with them. */
const withPatterns: readonly string[] = ["match", "matchAll", "search", "replace", "split"];
/** Methods of patterns. */
const ofPatterns: readonly string[] = ["test", "exec"];
const patternsTried = names(patterns).flatMap((name): Name[][] => [[name], [name, "letter"], [name, "dollars"]]);

/** Functions that read their text letter by letter in code of our own: a few texts tell all about them. */
const isDigest = (name: string): boolean => /hash|base64/.test(name);

/** The arguments that are tried with methods that take one or two words. */
const fewTried: readonly (readonly Name[])[] = [
  [],
  ...(["words", "formats", "quotes", "object", "two", "many", "key", "days", "day", "span", "time", "digest"] as const).map(
    (name): Name[] => [name],
  ),
  ...([
    ["two", "days"],
    ["time", "days"],
    ["key", "member"],
    ["words", "words"],
  ] as Name[][]),
];

/** Methods that ignore what they are given. */
const withoutArguments: ReadonlySet<string> = new Set("sum average min max compact toTitleCase toSentenceCase removeTags".split(" "));

/** True for functions that are no methods. */
const isFunction = (name: string): boolean => name.includes(".") || name.startsWith("$") || name === "uuid";

/** Every function, method and operator of expressions, by name. */
export function sweptFunctions(): Swept[] {
  const alone = [...functions].map(([name, run]) => sweptFunction(name, run, ["nothing"]));
  const named = [...namespaces].flatMap(([space, table]) =>
    [...table].map(([name, run]) => sweptFunction(`${space}.${name}`, run, ["nothing"])),
  );
  const ofLists = [...arrayMethods].map(([name, run]) =>
    /sort|reverse|toString/i.test(name)
      ? sweptFunction(`list.${name}`, run as ListedFunction, lists, {
          tried: [[]],
          callbacks: /sort/i.test(name) ? [null, callback] : [null],
        })
      : sweptFunction(`list.${name}`, run as ListedFunction, lists, name === "join" ? { tried: [[], ["letter"], ["words"]] } : {}),
  );
  const withArrow = [...arrayCallbacks].map(([name, run]) =>
    sweptFunction(`list.${name}`, run as ListedFunction, lists, { tried: [[], ["two"]], callbacks: [callback] }),
  );
  const ofTexts = [...textMethods].map(([name, run]) =>
    sweptFunction(`text.${name}`, run as ListedFunction, name === "concat" ? ["words"] : [...texts, "letter"]),
  );
  const ofNumbers = [...numberMethods].map(([name, run]) => sweptFunction(`number.${name}`, run as ListedFunction, ["two", "many"]));
  const extra = [...allExtraFunctions]
    .filter(([name]) => !ofPatterns.includes(name))
    .map(([name, run]) => {
      if (withPatterns.includes(name)) return sweptFunction(name, run, ["words", "letter"], { tried: patternsTried });
      if (isDigest(name))
        return sweptFunction(name, run, ["nothing", "words", "base64"], {
          tried: [[], ["digest"], ["words"], ["base64"], ["words", "base64"]],
        });
      if (isFunction(name)) return sweptFunction(name, run, ["nothing"]);
      return sweptFunction(name, run, [...names(growing), "two", "time", "letter", "percent"], {
        tried: run.length < 4 || withoutArguments.has(name) ? [[]] : fewTried,
      });
    });
  const withPattern = ofPatterns.map((name) =>
    sweptFunction(`pattern.${name}`, allExtraFunctions.get(name)!, names(patterns), { tried: [["words"], ["letter"]] }),
  );
  const signs = Object.entries(operators).map(([name, operate]): Swept => {
    const run: ListedFunction = (frame, _, left, [right]) => operate(frame, 0, left, right);
    return sweptFunction(`operator ${name}`, run, ["words", "digits", "objects", "object", "letter"], {
      tried: argumentsTried.filter(({ length }) => length === 1),
    });
  });
  return [...alone, ...named, ...ofLists, ...withArrow, ...ofTexts, ...ofNumbers, ...extra, ...withPattern, ...signs];
}

function timed(call: () => number | null): { ms: number; cost: number | null } {
  const begin = performance.now();
  const cost = call();
  return { ms: performance.now() - begin, cost };
}

/** Measures one call: the best of five. */
export function measured({ what, prepare }: Call, rounds = 5): Finding {
  const best = (by: number): { ms: number; cost: number } => {
    const runs = Array.from({ length: rounds }, () => timed(prepare(by)));
    return { ms: Math.min(...runs.map(({ ms }) => ms)), cost: runs[0]!.cost ?? 0 };
  };
  const [once, often] = [best(1), best(growth)];
  return { what, times: [once.ms, often.ms], costs: [once.cost, often.cost] };
}

/**
 * Measures the calls of a function that take long enough to say something: the one that takes longest for what it costs, and the one that
 * grows most for what it costs.
 */
export function suspicious({ calls }: Swept): { readonly findings: readonly Finding[]; readonly accepted: number } {
  let accepted = 0;
  const slow: { call: Call; price: number }[] = [];
  for (const call of calls) {
    const { ms, cost } = timed(call.prepare(growth));
    if (cost === null) continue;
    accepted++;
    if (ms >= leastMs) slow.push({ call, price: ms / (1 + cost) });
  }
  slow.sort((a, b) => b.price - a.price);
  return { findings: slow.slice(0, 3).map(({ call }) => measured(call)), accepted };
}

/** What is wrong with a call, given how many milliseconds a unit takes in the median; null if nothing is. */
export function verdictOn({ times, costs }: Finding, medianMs: number): string | null {
  const [[small, large], [few, many]] = [times, costs];
  if (large < leastMs) return null;
  const unitMs = large / (1 + many);
  if (unitMs > dearest * medianMs) return `a unit takes ${(unitMs / medianMs).toFixed(0)} times as long as in the median`;
  const grows = large > (growth / 2) * small && many + 1 < (growth / 3) * (few + 1);
  return grows ? `takes ${(large / small).toFixed(1)} times as long for ${(many / (few || 1)).toFixed(1)} times the price` : null;
}

/** The same call, if nothing of it were paid for. */
export function free(finding: Finding): Finding {
  return { ...finding, costs: [0, 0] };
}
