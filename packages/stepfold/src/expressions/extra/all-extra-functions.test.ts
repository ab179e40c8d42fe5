import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { compileExpression } from "../compile-expression.ts";
import { compileTemplate } from "../compile-template.ts";
import { expressionLimits } from "../evaluation/expression-limits.ts";
import { extraAlone, extraMethods, extraNamespaces } from "../functions/extra-functions.ts";
import { loadFunctions } from "../load-functions.ts";
import { allExtraFunctions } from "./all-extra-functions.ts";

const scope = {
  input: {
    name: "Ada Lovelace",
    mail: "ada@example.org",
    at: "2026-03-05T14:07:09.008Z",
    list: [3, 1, 3],
    people: [{ name: "Ada", age: 36 }, { name: "Bob", age: 36 }, { name: "Ada", age: 20 }, 7],
    none: null,
  },
  $now: Date.parse("2026-11-20T09:30:15.250Z"),
  execution: { id: "e1", workflow: "post", startedAt: 0, input: { a: 1 } },
  index: 4,
  seed: () => "s",
};
const run = (source: string, data: Readonly<Record<string, unknown>> = scope): unknown =>
  compileExpression(source, undefined, expressionLimits(10_000)).evaluate(data);
const messageOf = (source: string, data = scope): string => {
  try {
    run(source, data);
  } catch (error) {
    return `${(error as StepfoldError).code}: ${(error as Error).message}`;
  }
  throw new RangeError(`no error: ${source}`);
};

describe("functions that are loaded where an expression names one", () => {
  it("are all there", () => {
    const names = [...extraNamespaces].flatMap(([space, own]) => own.map((name) => `${space}.${name}`));
    const missing = [...names, ...extraAlone, ...extraMethods].filter((name) => !allExtraFunctions.has(name));
    expect(missing).toEqual([]);
  });
});

describe("base64 and hashes", () => {
  beforeAll(loadFunctions);

  it("write any text as base64 and read it again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const base64 = Buffer.from(text).toString("base64");
        expect(run("base64.encode(input)", { input: text })).toBe(base64);
        expect(run("base64.encodeUrl(input)", { input: text })).toBe(Buffer.from(text).toString("base64url"));
        expect(run("base64.decode(base64.encodeUrl(input))", { input: text })).toBe(Buffer.from(base64, "base64").toString());
        expect(run("input.base64Encode().base64Decode()", { input: text })).toBe(text);
      }),
    );
  });

  it("digest any text as the platform does", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.string({ maxLength: 100 }), (text, key) => {
        const data = { input: { text, key } };
        for (const name of ["md5", "sha1", "sha256", "sha384", "sha512"]) {
          const expected = createHash(name).update(text).digest("hex");
          expect([name, run(`hash.${name}(input.text)`, data)]).toEqual([name, expected]);
        }
        expect(run("hash.hmacSha256(input.text, input.key)", data)).toBe(createHmac("sha256", key).update(text).digest("hex"));
      }),
    );
    const key = "k".repeat(100);
    expect(run("hash.hmacSha256('a', input)", { input: key })).toBe(createHmac("sha256", key).update("a").digest("hex"));
    expect(run("'a'.hash()")).toBe(run("hash.md5('a')"));
    expect(run("'a'.hash('SHA-256')")).toBe(run("hash.sha256('a')"));
    expect(run("hash.sha512(input)", { input: "x".repeat(10_000) })).toBe(createHash("sha512").update("x".repeat(10_000)).digest("hex"));
  });

  it("stand for half a character as the platform does", () => {
    expect(run("base64.encode(input)", { input: "\ud800" })).toBe(Buffer.from("\ud800").toString("base64"));
  });

  it.each([
    ["base64.decode('a')", "this text is not base64"],
    ["base64.decode('a*==')", "this text is not base64"],
    ["base64.decode('/w==')", "are not UTF-8 text"],
    ["'a'.hash('crc')", "hash needs one of md5"],
    ["hash.md5(null)", "argument 1 of md5 must be a text, not null"],
    ["hash.sha256('x'.repeat(500000))", "EXPRESSION_BUDGET"],
    ["base64.encode('x'.repeat(500000))", "EXPRESSION_BUDGET"],
  ])("%s is refused", (source, message) => {
    expect(messageOf(source)).toContain(message);
  });
});

describe("chance", () => {
  beforeAll(loadFunctions);

  it("gives the same again, and something else at another place, step or attempt", () => {
    const uuids = (seed: string): unknown => {
      const { template } = compileTemplate({ a: "{{ uuid() }}", b: "{{ uuid() }}{{ uuid() }}", c: "{{ [1, 2].map(() => uuid()) }}" }, "/n");
      return template!.evaluate({ seed: () => seed });
    };
    const first = uuids("s") as { a: string; b: string; c: string[] };
    expect(uuids("s")).toEqual(first);
    const all = [first.a, first.b.slice(0, 36), first.b.slice(36), ...first.c, (uuids("t") as { a: string }).a];
    expect(new Set(all).size).toBe(6);
    for (const one of all) expect(one).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  it("is spread evenly from 0 to 1", () => {
    const { evaluate } = compileExpression("input.map(() => Math.random())");
    const shares = evaluate({ seed: () => "s", input: Array.from({ length: 500 }, () => 0) }) as number[];
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...shares)).toBeLessThan(1);
    expect(Math.abs(shares.reduce((sum, one) => sum + one, 0) / 500 - 0.5)).toBeLessThan(0.05);
    expect([1, 3]).toContain(run("input.list.randomItem()"));
  });

  it("needs a step to be drawn for", () => {
    expect(messageOf("uuid()", { ...scope, seed: undefined } as unknown as typeof scope)).toContain("works only in the data of a step");
    expect(messageOf("input.randomItem()")).toContain("works on arrays");
  });
});

describe("facts of the execution", () => {
  it.each<[string, unknown]>([
    ["execution.id", "e1"],
    ["$execution.id", "e1"],
    ["execution.startedAt", "1970-01-01T00:00:00.000Z"],
    ["execution.input.a", 1],
    ["$workflow.id + $workflow.name", "postpost"],
    ["index + $itemIndex", 8],
  ])("%s", (source, value) => {
    expect(run(source)).toEqual(value);
  });

  it("are undefined where there is no execution, and as they are in a scope written by hand", () => {
    expect(run("execution", {})).toBe(undefined);
    expect(run("execution", { execution: { id: "a" } })).toEqual({ id: "a" });
  });
});

describe("time", () => {
  beforeAll(loadFunctions);

  it.each<[string, unknown]>([
    ["$now.toISO()", "2026-11-20T09:30:15.250Z"],
    ["$now.toISODate()", "2026-11-20"],
    ["$now.toISOString()", "2026-11-20T09:30:15.250Z"],
    ["$today", "2026-11-20T00:00:00.000Z"],
    ["$today.toISODate()", "2026-11-20"],
    ["$now.plus({ days: 1, hours: 2 })", "2026-11-21T11:30:15.250Z"],
    ["$now.plus({ days: -1 })", "2026-11-19T09:30:15.250Z"],
    ["$now.plus({ days: -1, hours: 2 })", "2026-11-19T11:30:15.250Z"],
    ["$now.minus({ days: 1, hours: -2 })", "2026-11-19T11:30:15.250Z"],
    ["$now.plus({ years: 1, months: -1, days: 1 })", "2027-10-21T09:30:15.250Z"],
    ["$now.plus({})", "2026-11-20T09:30:15.250Z"],
    ["$now.plus(1, 'month')", "2026-12-20T09:30:15.250Z"],
    ["$now.minus({ days: 7 }).toISODate()", "2026-11-13"],
    ["$now.minus(30, 'days')", "2026-10-21T09:30:15.250Z"],
    ["$now.minus('2 hours')", "2026-11-20T07:30:15.250Z"],
    ["$now.plus(1000)", "2026-11-20T09:30:16.250Z"],
    ["$now.format('yyyy-MM-dd')", "2026-11-20"],
    ["$now.toFormat('dd/MM/yyyy HH:mm')", "20/11/2026 09:30"],
    [
      "input.at.toFormat(\"d.M.yy y h:m:s.SSS a MMMM MMM LLLL LLL LL L EEEE EEE cccc ccc E HH H hh mm ss q ZZ Z 'of b'\")",
      "5.3.26 2026 2:7:9.008 PM March Mar March Mar 03 3 Thursday Thu Thursday Thu 4 14 14 02 07 09 1 +00:00 +0 of b",
    ],
    ["'2026-03-08T00:00:00Z'.toFormat('E h a X x dd')", "7 12 AM 1772928000 1772928000000 08"],
    ["$now.format()", "2026-11-20"],
    ["$now.startOf('week')", "2026-11-16T00:00:00.000Z"],
    ["$now.startOf('month')", "2026-11-01T00:00:00.000Z"],
    ["$now.startOf('quarter')", "2026-10-01T00:00:00.000Z"],
    ["$now.startOf('years')", "2026-01-01T00:00:00.000Z"],
    ["$now.startOf('hour')", "2026-11-20T09:00:00.000Z"],
    ["$now.endOf('month')", "2026-11-30T23:59:59.999Z"],
    ["$now.endOf('quarter')", "2026-12-31T23:59:59.999Z"],
    ["$now.endOf('day')", "2026-11-20T23:59:59.999Z"],
    ["$now.year + $now.month + $now.day", 2057],
    ["[$now.hour, $now.minute, $now.second, $now.millisecond, $now.weekday, $now.quarter]", [9, 30, 15, 250, 5, 4]],
    ["$now.plus({ days: 2 }).weekday", 7],
    ["$now.extract('year')", 2026],
    ["$now.era", undefined],
    ["$now.startOf('ms')", "2026-11-20T09:30:15.250Z"],
    ["input.at.toMillis() === new Date(input.at).getTime()", true],
    ["input.at.toSeconds()", 1772719629.008],
    ["$now.diffTo(input.at, 'days') < 0", true],
    ["'2026-01-01'.diffTo('2026-01-03')", 2],
    ["new Date()", "2026-11-20T09:30:15.250Z"],
    ["new Date(0).toISOString()", "1970-01-01T00:00:00.000Z"],
    ["Date.now() - $now.toMillis()", 0],
    ["Date.parse('1970-01-02')", 86_400_000],
    ["DateTime.now() === DateTime.utc() && DateTime.local() === $now", true],
    ["DateTime.fromISO('2026-01-31').plus({ months: 1 })", "2026-02-28T00:00:00.000Z"],
    ["DateTime.fromMillis(1000) + DateTime.fromSeconds(1)", "1970-01-01T00:00:01.000Z1970-01-01T00:00:01.000Z"],
    ["input.at.toDateTime().year", 2026],
    ["[new Date(input.at).getFullYear(), input.at.getMonth(), input.at.getDate(), input.at.getDay()]", [2026, 2, 5, 4]],
    ["[input.at.getHours(), input.at.getMinutes(), input.at.getSeconds(), input.at.getMilliseconds()]", [14, 7, 9, 8]],
  ])("%s", (source, value) => {
    expect(run(source)).toEqual(value);
  });

  it.each([
    ["'soon'.toISO()", "needs a time, as ISO text"],
    ["input.list.toISO()", "not an array"],
    ["DateTime.fromMillis(9e15)", "leads to a date that does not exist"],
    ["$now.plus('soon')", "needs a time such as"],
    ["$now.startOf('decade')", "needs second, minute"],
    ["$now.extract('era')", "extract needs one of year"],
    ["$now.diffTo($now, 'months')", "diffTo counts in ms"],
    ["'a'.toFormat('x')", "needs a time"],
  ])("%s is refused", (source, message) => {
    expect(messageOf(source)).toContain(message);
  });
});

describe("the words of n8n for values", () => {
  beforeAll(loadFunctions);

  it.each<[string, unknown]>([
    ["input.none.isEmpty() && input.missing.isEmpty() && !input.none.isNotEmpty() && input.none?.x.isEmpty()", true],
    ["''.isEmpty() && [].isEmpty() && {}.isEmpty()", true],
    ["input.name.isNotEmpty() && input.list.isNotEmpty() && input.isNotEmpty() && (5).isNotEmpty()", true],
    ["input.list.toJsonString()", "[3,1,3]"],
    ["'[1]'.parseJson()", [1]],
    ["'12.7 EUR'.toInt() + '2.5'.toNumber() + '0.5'.toFloat()", 15],
    ["['yes', 'no', 'FALSE', '0', '', 'x'].map(x => x.toBoolean())", [true, false, false, false, false, true]],
    ["(0).toBoolean()", false],
    ["'ada LOVE lace'.toTitleCase() + 'ADA l'.toSentenceCase()", "Ada Love LaceAda l"],
    ["'a b&c'.urlEncode().urlDecode()", "a b&c"],
    ["'<p>1 < 2</p>x<'.removeTags()", "1 x<"],
    ["[input.list.first(), input.list.last(), [].first()]", [3, 3, undefined]],
    ["[input.list.first(2), input.list.last(2), [1].last(5), [1].last(0)]", [[3, 1], [1, 3], [1], []]],
    ["input.list.unique()", [3, 1]],
    ["[undefined, null].unique().length", 1],
    ["input.people.removeDuplicates('age')", [{ name: "Ada", age: 36 }, { name: "Ada", age: 20 }, 7]],
    ["[input.list.sum(), input.list.average(), input.list.min(), input.list.max()]", [7, 7 / 3, 1, 3]],
    ["input.people.pluck('name')", ["Ada", "Bob", "Ada", undefined]],
    ["input.people.slice(0, 1).pluck('name', 'age')", [{ name: "Ada", age: 36 }]],
    ["input.list.chunk(2)", [[3, 1], [3]]],
    ["[0, '', null, {}, [], 'a'].compact()", [0, "a"]],
    ["[(1.256).round(2), (1.5).round(), (1.5).floor(), (1.5).ceil(), (-1).abs()]", [1.26, 2, 1, 2, 1]],
    ["[(2).isEven(), (2).isOdd(), (-3).isOdd()]", [true, false, true]],
    ["[{ a: 1 }.keys(), { a: 1 }.values()]", [["a"], [1]]],
    ["[{ a: 1 }.hasField('a'), { a: 1 }.hasOwnProperty('b'), input.name.hasField('a')]", [true, false, false]],
    ["$if(1 > 2, 'a', 'b') + $if(true, 'c')", "bc"],
    ["$ifEmpty(input.none, 'x') + $ifEmpty('y', 'z')", "xy"],
    ["$min(1, 2) + $max(1, 2)", 3],
  ])("%s", (source, value) => {
    expect(run(source)).toEqual(value);
  });

  it.each([
    ["input.name.sum()", "sum() works on arrays, not on a text"],
    ["input.name.round()", "round() works on numbers, not on a text"],
    ["input.list.chunk(0)", "at least 1"],
    ["input.people.pluck('__proto__')", "cannot be read"],
    ["input.none.first()", "input.none is null"],
  ])("%s is refused", (source, message) => {
    expect(messageOf(source)).toContain(message);
  });
});

describe("nodes as n8n names them", () => {
  const result = (output: unknown): object => ({ data: output });
  const nodes = { "my-node": { last: result({ a: 2 }), all: [result({ a: 1 }), result({ a: 2 })] } };

  it.each<[string, unknown]>([
    ["$node['my-node'].json.a", 2],
    ["$node['my-node']?.json.a", 2],
    ["$node['my' + '-node'].data.a", 2],
    ["$node.other?.json", undefined],
    ["$items('my-node').map(x => x.json.a)", [1, 2]],
    ["$('my-node').isExecuted", true],
    ["$('other').isExecuted", false],
  ])("%s", (source, value) => {
    expect(run(source, { nodes })).toEqual(value);
  });

  it("read what nodes read", () => {
    expect(compileExpression("$node['a'].json.b").reads).toEqual([["nodes", "a", "last", "data", "b"]]);
    expect(compileExpression("input.people.map(([a, { b: c }]) => c)").reads).toContainEqual(["input", "people", "*", "1", "b"]);
    expect(compileExpression("input.a!.b.match(/x/)").reads).toEqual([["input", "a", "b"]]);
  });
});
