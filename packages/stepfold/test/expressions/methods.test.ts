import { describe, expect, it } from "vitest";
import { compileExpression } from "../../src/expressions/compile-expression.ts";

const scope = {
  input: {
    text: "  Hello, World ",
    list: [3, 1, 2],
    rows: [
      { n: 2, t: "b" },
      { n: 1, t: "a" },
    ],
    yes: true,
  },
};
const run = (source: string): unknown => compileExpression(source).evaluate(scope);

describe("methods of texts", () => {
  it.each<[string, unknown]>([
    ["input.text.trim()", "Hello, World"],
    ["input.text.trimStart()", "Hello, World "],
    ["input.text.trimEnd()", "  Hello, World"],
    ["'aB'.toUpperCase() + 'aB'.toLowerCase() + 'x'.toString()", "ABabx"],
    ["'abc'.includes('b')", true],
    ["'abc'.includes('a', 1)", false],
    ["'abc'.startsWith('a')", true],
    ["'abc'.endsWith('b', 2)", true],
    ["'a1'.includes(1) && 'true'.includes(true)", true],
    ["'abcabc'.indexOf('c')", 2],
    ["'abcabc'.lastIndexOf('c')", 5],
    ["'abcabc'.indexOf('c', 3)", 5],
    ["'abcdef'.slice(1, -1)", "bcde"],
    ["'abcdef'.slice()", "abcdef"],
    ["'abcdef'.substring(4, 2)", "cd"],
    ["'7'.padStart(3, '0')", "007"],
    ["'7'.padEnd(3)", "7  "],
    ["'abc'.at(-1)", "c"],
    ["'abc'.charAt(1)", "b"],
    ["'abc'.charCodeAt(0)", 97],
    ["'😀'.codePointAt(0)", 128512],
    ["'ab'.repeat(2.9)", "abab"],
    ["'ab'.repeat()", ""],
    ["'a,b,c'.split(',')", ["a", "b", "c"]],
    ["'a,b,c'.split(',', 2)", ["a", "b"]],
    ["'a,b,c'.split(',', -1)", ["a", "b", "c"]],
    ["'abc'.split('')", ["a", "b", "c"]],
    ["'abc'.split()", ["abc"]],
    ["'aXbX'.replace('X', '$&')", "a$&bX"],
    ["'aXbX'.replaceAll('X', '$&-')", "a$&-b$&-"],
    ["'ab'.replaceAll('', '-')", "-a-b-"],
    ["''.replaceAll('', 'x')", "x"],
    ["'a'.concat('b', 1, null)", "ab1null"],
    ["'e\u0301'.normalize() === '\u00e9'", true],
    ["'\u00e9'.normalize('NFD').length", 2],
  ])("%s", (source, value) => expect(run(source)).toEqual(value));

  it.each([
    ["'abc'.includes()", "argument 1 of includes must be a text, not undefined"],
    ["'abc'.includes(input)", "argument 1 of includes must be a text, not an object"],
    ["'a'.repeat(-1)", "not negative"],
    ["'a'.normalize('X')", "NFC, NFD"],
  ])("%s fails", (source, message) => expect(() => run(source)).toThrow(message));
});

describe("methods of arrays", () => {
  it.each<[string, unknown]>([
    ["input.list.includes(1)", true],
    ["input.list.indexOf(2)", 2],
    ["['a', 'b', 'a'].lastIndexOf('a')", 2],
    ["['a'].includes('b')", false],
    ["input.list.at(-1)", 2],
    ["input.list.slice(1)", [1, 2]],
    ["input.list.slice(-2, -1)", [1]],
    ["input.list.slice(2, 1)", []],
    ["input.list.slice(-9, 9)", [3, 1, 2]],
    ["input.list.concat([4], 5)", [3, 1, 2, 4, 5]],
    ["[1, [2, [3]]].flat()", [1, 2, [3]]],
    ["[1, [2, [3]]].flat(9)", [1, 2, 3]],
    ["input.list.join()", "3,1,2"],
    ["[1, null, undefined, { a: 1 }, [2]].join('-')", '1---{"a":1}-[2]'],
    ["[].join('-')", ""],
    ["input.list.reverse()", [2, 1, 3]],
    ["input.list.toReversed()", [2, 1, 3]],
    ["input.list.sort()", [1, 2, 3]],
    ["[10, 9, 1, 1, undefined].sort()", [1, 1, 10, 9, undefined]],
    ["input.list.toSorted((a, b) => b - a)", [3, 2, 1]],
    ["input.rows.sort((a, b) => a.n - b.n).map(x => x.t)", ["a", "b"]],
    ["input.list.toString()", "[3,1,2]"],
    ["input.list.filter((x, i) => i > 0 && x > 1)", [2]],
    ["input.list.find(x => x < 3)", 1],
    ["input.list.find(x => x > 5)", undefined],
    ["input.list.findIndex(x => x === 2)", 2],
    ["input.list.findIndex(x => x === 9)", -1],
    ["input.list.findLast(x => x > 1)", 2],
    ["input.list.findLast(x => x > 9)", undefined],
    ["input.list.findLastIndex(x => x > 2)", 0],
    ["input.list.some(x => x > 2)", true],
    ["input.list.every(x => x > 2)", false],
    ["[].every(x => false)", true],
    ["input.list.reduce((sum, x) => sum + x, 0)", 6],
    ["input.list.reduce((sum, x) => sum + x)", 6],
    ["input.list.reduce((sum, x, i) => sum + i, 0)", 3],
    ["input.list.flatMap(x => x > 1 ? [x, [x]] : x)", [3, [3], 1, 2, [2]]],
  ])("%s", (source, value) => expect(run(source)).toEqual(value));

  it("never changes the array itself", () => {
    run("input.list.sort()");
    run("input.list.reverse()");
    expect(scope.input.list).toEqual([3, 1, 2]);
  });

  it.each([
    ["[].reduce((a, b) => a)", "reduce of an empty array needs a start value"],
    ["input.list.sort((a, b) => a > b)", "must give a number"],
  ])("%s fails", (source, message) => expect(() => run(source)).toThrow(message));
});

describe("methods of numbers and booleans", () => {
  it.each<[string, unknown]>([
    ["1.005.toFixed(1)", "1.0"],
    ["(2.5).toFixed()", "3"],
    ["255..toString(16)", "ff"],
    ["(255).toString()", "255"],
    ["(1234.5).toPrecision(2)", "1.2e+3"],
    ["(1.5).toPrecision()", "1.5"],
    ["input.yes.toString()", "true"],
  ])("%s", (source, value) => expect(run(source)).toEqual(value));

  it.each([
    ["(1).toFixed(101)", "toFixed needs a number from 0 to 100"],
    ["(1).toPrecision(0)", "from 1 to 100"],
    ["(1).toString(1)", "a base from 2 to 36"],
    ["(1).toString(40)", "a base from 2 to 36"],
  ])("%s fails", (source, message) => expect(() => run(source)).toThrow(message));
});

describe("functions", () => {
  it.each<[string, unknown]>([
    ["Number('4')", 4],
    ["Number()", 0],
    ["String(4) + String()", "4"],
    ["String({ a: [1, 'x', undefined] })", '{"a":[1,"x",null]}'],
    ["String(null)", "null"],
    ["Boolean(0)", false],
    ["parseInt('12px')", 12],
    ["parseInt('ff', 16)", 255],
    ["parseFloat('1.5kg')", 1.5],
    ["isNaN('x') && !isNaN(1) && isFinite('1')", true],
    ["encodeURIComponent('a b/é')", "a%20b%2F%C3%A9"],
    ["decodeURIComponent('a%20b')", "a b"],
    ["[Math.abs(-1), Math.ceil(1.2), Math.floor(1.8), Math.round(1.5), Math.trunc(-1.5), Math.sign(-3)]", [1, 2, 1, 2, -1, -1]],
    ["[Math.sqrt(9), Math.pow(2, 3), Math.min(2, '1'), Math.hypot(3, 4), Math.log2(8)]", [3, 8, 1, 5, 3]],
    ["[Number.isInteger(1.5), Number.isSafeInteger(1), Number.isFinite('1'), Number.isNaN('x')]", [false, true, false, false]],
    ["[Number.parseInt('0x10'), Number.parseFloat('2.5')]", [16, 2.5]],
    ["Object.keys({ a: 1, b: 2 })", ["a", "b"]],
    ["Object.values({ a: 1, b: 2 })", [1, 2]],
    ["Object.entries({ a: 1 })", [["a", 1]]],
    ["Object.keys(['x'])", ["0"]],
    ["Object.fromEntries([['a', 1], [2, 3]])", { a: 1, 2: 3 }],
    ["Object.hasOwn({ a: 1 }, 'a') && !Object.hasOwn({}, 'toString') && !Object.hasOwn(1, 'a')", true],
    ["Array.isArray([]) && !Array.isArray({})", true],
    ["JSON.parse('{\"a\": [1, null, true]}').a", [1, null, true]],
    ["JSON.stringify({ a: 1 })", '{"a":1}'],
    ["JSON.stringify([1], null, 2)", "[\n  1\n]"],
    ["JSON.stringify([1], null, '-')", "[\n-1\n]"],
    ["JSON.stringify([1], undefined, 'x' * 1)", "[1]"],
    ["JSON.stringify(undefined)", undefined],
    ["JSON.stringify('a\\n')", '"a\\n"'],
  ])("%s", (source, value) => expect(run(source)).toEqual(value));

  it.each([
    ["decodeURIComponent('%')", "not valid percent-encoding"],
    ["encodeURIComponent('\\uD800')", "half a character"],
    ["Object.keys('abc')", "Object.keys needs an object, not a text"],
    ["Object.fromEntries(1)", "needs an array of pairs, not a number"],
    ["Object.fromEntries([1])", "needs pairs [key, value], not a number"],
    ["Object.fromEntries([['__proto__', 1]])", '"__proto__" is not allowed'],
    ["JSON.parse('{')", "this text is not JSON"],
    ["JSON.parse('{\"__proto__\": 1}')", '"__proto__" is not allowed'],
    ["JSON.stringify([1], x => x)", "only be the first argument"],
    ["JSON.stringify([1], ['a'])", "takes null as second argument"],
  ])("%s fails", (source, message) => expect(() => run(source)).toThrow(message));
});

describe("dates", () => {
  it.each<[string, unknown]>([
    ["date.parse('2026-11-20')", Date.UTC(2026, 10, 20)],
    ["date.parse('2026-11-20T09:30Z')", Date.UTC(2026, 10, 20, 9, 30)],
    ["date.parse('2026-11-20 09:30:05.25+00')", Date.UTC(2026, 10, 20, 9, 30, 5, 250)],
    ["date.parse('2026-11-20T09:30:00+01:30')", Date.UTC(2026, 10, 20, 8, 0)],
    ["date.parse('2026-11-20T09:30:00-0130')", Date.UTC(2026, 10, 20, 11, 0)],
    ["date.parse(5.9)", 5],
    ["date.iso('2026-11-20')", "2026-11-20T00:00:00.000Z"],
    ["date.format('2026-11-20T09:05:07.008Z', 'dd.MM.yyyy HH:mm:ss.SSS')", "20.11.2026 09:05:07.008"],
    ["date.format(0)", "1970-01-01"],
    ["date.add('2026-01-31', '1 month')", "2026-02-28T00:00:00.000Z"],
    ["date.add('2024-02-29', '1 year')", "2025-02-28T00:00:00.000Z"],
    ["date.add('2026-01-01', '2 days')", "2026-01-03T00:00:00.000Z"],
    ["date.add('2026-01-01', '1h30m, 5 s')", "2026-01-01T01:30:05.000Z"],
    ["date.add('2026-01-01', '-1 week')", "2025-12-25T00:00:00.000Z"],
    ["date.add('2026-01-01', 1000)", "2026-01-01T00:00:01.000Z"],
    ["date.subtract('2026-03-31', '1 month')", "2026-02-28T00:00:00.000Z"],
    ["date.diff('2026-01-03', '2026-01-01', 'days')", 2],
    ["date.diff(5, 3)", 2],
    ["date.startOf('2026-11-20T09:30:15Z', 'month')", "2026-11-01T00:00:00.000Z"],
    ["date.startOf('2026-11-20T09:30:15Z', 'year')", "2026-01-01T00:00:00.000Z"],
    ["date.startOf('2026-11-20T09:30:15Z', 'day')", "2026-11-20T00:00:00.000Z"],
    ["date.startOf('2026-11-20T09:30:15Z', 'hour')", "2026-11-20T09:00:00.000Z"],
  ])("%s", (source, value) => expect(run(source)).toEqual(value));

  it.each([
    "date.parse('2026-02-30')",
    "date.parse('2026-13-01')",
    "date.parse('2026-01-01T24:00Z')",
    "date.parse('2026-01-01T00:60Z')",
    "date.parse('2026-01-01T00:00:60Z')",
    "date.parse('2026-01-01T00:00+24:00')",
    "date.parse('2026-01-01T00:00+00:60')",
    "date.parse('tomorrow')",
    `date.parse('${"2".repeat(50)}')`,
    "date.parse(null)",
    "date.parse(9e15)",
    "date.parse(1 / 0)",
  ])("%s is no date", (source) => expect(() => run(source)).toThrow("needs ISO text"));

  it.each([
    ["date.add(0, 'soon')", "needs a time such as"],
    ["date.add(0, '')", "needs a time such as"],
    ["date.add(0, '1.5 months')", "needs a time such as"],
    ["date.add(0, '3 fortnights')", "needs a time such as"],
    ["date.add(0, null)", "needs a time such as"],
    [`date.add(0, '${"1 s ".repeat(40)}')`, "needs a time such as"],
    ["date.add(0, '999999999 years')", "a date that does not exist"],
    ["date.add(8.64e15, 1)", "a date that does not exist"],
    ["date.add(0, 2, 'days')", 'date.add takes 2 arguments, not 3. A time is one text: date.add(when, "2 days")'],
    ["date.add(...[0, 2, 'days'])", "date.add takes 2 arguments, not 3"],
    ["date.iso(0, 1)", "date.iso takes 1 argument, not 2"],
    ["date.diff(0, 0, 'ms', 1)", "date.diff takes 3 arguments, not 4"],
    ["date.diff(0, 0, 'months')", "counts in ms"],
    ["date.startOf(0, 'week')", "date.startOf needs"],
    ["date.startOf(0, 'era')", "date.startOf needs"],
  ])("%s fails", (source, message) => expect(() => run(source)).toThrow(message));
});
