// biome-ignore-all lint/suspicious/noTemplateCurlyInString: template strings of the language under test
import { describe, expect, it } from "vitest";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { compileExpression } from "./compile-expression.ts";

const scope = {
  input: { name: "Ada", price: 21, tags: ["a", "b"], deep: { list: [{ id: 1 }, { id: 2 }] }, none: null, yes: true },
  metadata: { tier: "gold" },
  attempt: 2,
  error: { name: "Error", message: "busy", code: "BUSY" },
  $now: 0,
};
const run = (source: string): unknown => compileExpression(source).evaluate(scope);

/** The error an expression ends with, at compilation or evaluation. */
const errorOf = (source: string): StepfoldError => {
  try {
    run(source);
  } catch (error) {
    return error as StepfoldError;
  }
  throw new Error(`no error: ${source}`);
};

describe("the language", () => {
  it.each<[string, unknown]>([
    ["1", 1],
    ["1.5e3", 1500],
    ["2E-1", 0.2],
    ["1e+2", 100],
    [".5", 0.5],
    ["5.", 5],
    ["0xFF", 255],
    ["0b11", 3],
    ["'it\\'s'", "it's"],
    ['"a\\n\\t\\x41\\u0042\\u{1F600}\\0\\q"', "a\n\tAB😀\0q"],
    ["true", true],
    ["false", false],
    ["null", null],
    ["undefined", undefined],
    ["`a${1 + 1}b${'`'}c\\n${ {a: `x${1}`}.a }`", "a2b`c\nx1"],
    ["``", ""],
    ["`$5 {}`", "$5 {}"],
    ["[1, ...[2, 3], 4,]", [1, 2, 3, 4]],
    ["[]", []],
    ["{ a: 1, 'b': 2, 3: 4, [`c${1}`]: 5, [7]: 8 }", { a: 1, b: 2, 3: 4, c1: 5, 7: 8 }],
    ["{ attempt, ...input.deep, ...null, ...undefined }", { attempt: 2, list: [{ id: 1 }, { id: 2 }] }],
    ["{ attempt }", { attempt: 2 }],
    ["{}", {}],
    ["1 + 2 * 3 ** 2", 19],
    ["2 ** 3 ** 2", 512],
    ["2 ** -1", 0.5],
    ["(-2) ** 2", 4],
    ["7 % 4 - 1 / 2", 2.5],
    ["input.price + input.price", 42],
    ["input.price - input.price", 0],
    ["input.price * input.price", 441],
    ["input.price / input.price", 1],
    ["input.price < input.price", false],
    ["input.price > input.price", false],
    ["input.price <= 21 && input.price >= 21", true],
    ["'b' > 'a'", true],
    ["'b' < 'a'", false],
    ["'10' < 9", false],
    ["'2' * '3'", 6],
    ["'5' - 2", 3],
    ["'6' / 2", 3],
    ["'1' + 2", "12"],
    ["2 + '1'", "21"],
    ["true + null", 1],
    ["+'4'", 4],
    ["-input.price", -21],
    ["!input.yes", false],
    ["!!1", true],
    ["typeof input", "object"],
    ["typeof 'a'", "string"],
    ["typeof input.price", "number"],
    ["1 == '1'", false],
    ["null == undefined", true],
    ["undefined != 0", true],
    ["input.none == null", true],
    ["1 === 1 && 1 !== 2", true],
    ["0 || 'b'", "b"],
    ["1 || 'b'", 1],
    ["0 && 1", 0],
    ["null ?? 'c'", "c"],
    ["(null || 0) ?? 1", 0],
    ["1 ?? (0 || 1)", 1],
    ["true ? 1 : 2", 1],
    ["false ? 1 : false ? 2 : 3", 3],
    ["true?.5:1", 0.5],
    ["input.yes ? input.price > 20 ? 'x' : 'y' : 'z'", "x"],
    ["input['name']", "Ada"],
    ["input.tags[1]", "b"],
    ["input.tags[0 + 1]", "b"],
    ["input.tags['1']", "b"],
    ["input.tags[9]", undefined],
    ["input.tags.length", 2],
    ["input.tags['len' + 'gth']", 2],
    ["input['na' + 'me']", "Ada"],
    ["input.name[0]", "A"],
    ["input.name[9]", undefined],
    ["input.name.length", 3],
    ["input.price.length", undefined],
    ["input.yes[0]", undefined],
    ["input.none?.a", undefined],
    ["input.none?.a.b.c[input.x.y]", undefined],
    ["input.none?.['a']", undefined],
    ["input.name?.toUpperCase()", "ADA"],
    ["input?.deep.list[1].id", 2],
    ["input.deep.list.map(x => x.id * 2)", [2, 4]],
    [
      "input.deep.list.map((x, i, all) => [x.id, i, all.length])",
      [
        [1, 0, 2],
        [2, 1, 2],
      ],
    ],
    ["input.tags.map(() => 1)", [1, 1]],
    [
      "input.tags.map((x) => input.tags.map(y => x + y))",
      [
        ["aa", "ab"],
        ["ba", "bb"],
      ],
    ],
    ["input.tags.map(x => ({ x }))", [{ x: "a" }, { x: "b" }]],
    ["[0, 1, ''].filter(Boolean)", [1]],
    ["['1', '2'].map(Number)", [1, 2]],
    ["[1, 2].map(String, 0)", ["1", "2"]],
    ["input.tags.map(nodes => nodes.length)", [1, 1]],
    ["input.tags.map(Math => Math.length)", [1, 1]],
    ["Math.max(1, ...[5, 3])", 5],
    ["Math.PI > 3 && Number.MAX_SAFE_INTEGER > 1", true],
    ["item", undefined],
    ["input.größe", undefined],
    ["'😀'", "😀"],
    ["$now", "1970-01-01T00:00:00.000Z"],
    ["attempt < 3 && error.code !== 'DECLINED'", true],
    ["{{ attempt }}", 2],
    ["  {{attempt}}  ", 2],
    ["{{ { a: { b: 1 }}}}", { a: { b: 1 } }],
    ["{{ '}}' }}", "}}"],
    ['{{ "{{" }}', "{{"],
    ["'' + [1, { a: null }] + {}", '[1,{"a":null}]{}'],
    ["`${null} ${undefined} ${true}`", "null undefined true"],
    ["1 ? 'folded' + 1 : attempt", "folded1"],
    ["1 // one", 1],
    ["/* two */ 1 + /* three */ 2 // four\n + 3", 6],
    ["'a//b' + '/*c*/'", "a//b/*c*/"],
    ["{{ 1 // one }}", 1],
    ["{{ 1; }}", 1],
    ["1 ; // one", 1],
    ["6 / 2 / 3", 1],
    ["(6) / [2][0] / 1", 3],
    ["`6` / 2", 3],
    ["attempt! / 2", 1],
    ["input.price!.toFixed(1)", "21.0"],
    ["input.tags![0]!", "a"],
    ["input!.none", null],
    ["!input.none", true],
    ["'name' in input && !('x' in input) && 1 in input.tags", true],
    ["'in' + { in: 1 }.in", "in1"],
    ["Object.entries(input.deep).map(([key, list]) => key + list.length)", ["list2"]],
    ["input.deep.list.map(({ id }) => id)", [1, 2]],
    [
      "input.deep.list.map(({ id: n }, i) => ({ n, i }))",
      [
        { n: 1, i: 0 },
        { n: 2, i: 1 },
      ],
    ],
    ["[[1, [2, { x: 3 }]]].map(([a, [b, { x: c }]]) => a + b + c)", [6]],
    ["[[1, 2]].map(([, b,]) => b)", [2]],
    ["[[1, 2]].map(([a]) => [3].map(a => a))", [[3]]],
    ["[[1, 2]].map(([a]) => [[3]].map(([b]) => a + b))", [[4]]],
    ["[[2], [1]].sort(([a], [b]) => a - b)", [[1], [2]]],
    ["[[2], [1]].reduce((sum, [a]) => sum + a, 0)", 3],
    ["'abcdef'.substr(1, 2) + 'abc'.substr(-2) + 'abc'.substr(-9, 1) + 'a'.substr(0, -1)", "bcbca"],
  ])("%s", (source, value) => {
    expect(run(source)).toEqual(value);
  });

  it("stops a whole chain at ?. when something before it is missing", () => {
    expect(run("input.none?.tags.map(x => x.y).join(', ')")).toBe(undefined);
    expect(run("input.none?.trim()")).toBe(undefined);
    expect(errorOf("(input.none?.a).b").message).toContain("input.none?.a is undefined");
  });

  it("takes $now as text too, and gives undefined where a scope lacks a name", () => {
    expect(compileExpression("$now").evaluate({ $now: "2026-01-01" })).toBe("2026-01-01");
    expect(compileExpression("[$now, input]").evaluate({})).toEqual([undefined, undefined]);
    expect(() => compileExpression("$now").evaluate({ $now: Number.NaN })).toThrow("$now is not a moment");
  });
});

describe("what is wrong with an expression", () => {
  it.each<[string, string, number]>([
    ["", "there is no expression here", 0],
    ["{{ }}", "there is no expression here", 0],
    ["{{ 1 }} 2", "nothing can follow its }}", 7],
    ["{{ 1", 'has no "}}"', 0],
    ["{{", 'has no "}}"', 0],
    ["{{ 1 } }}", '"}" closes nothing', 2],
    ["1 +", "expected a value, not the end", 3],
    ["1 2", 'expected an operator or the end, not "2"', 2],
    ["a b", 'not "b"', 2],
    ["(1", 'expected ")" to close the bracket', 2],
    ["()", "nothing between these brackets", 0],
    ["[1 2]", 'expected "," or "]"', 3],
    ["[1", 'expected "," or "]"', 2],
    ["{a 1}", 'expected ":" after the key', 3],
    ["{a: 1 b: 2}", 'expected "," or "}"', 6],
    ["{+: 1}", "expected a key", 1],
    ["{[1: 2}", 'expected "]" after the key', 3],
    ["{__proto__: 1}", '"__proto__" is not allowed', 1],
    ["{'__proto__': 1}", '"__proto__" is not allowed', 1],
    ["{__proto__}", '"__proto__" is not allowed', 1],
    ["}", '"}" closes nothing', 0],
    ["'abc", "never closed", 0],
    ["'a\nb'", "never closed", 0],
    ["'a\rb'", "never closed", 0],
    ["`abc", "never closed", 0],
    ["`a${1", 'expected "}" after the expression', 5],
    ["`a${1 2}`", 'expected "}" after the expression', 6],
    ["'\\x1'", "2 hexadecimal digits", 1],
    ["'\\xZZ'", "2 hexadecimal digits", 1],
    ["'\\u12'", "4 hexadecimal digits", 1],
    ["'\\u{110000}'", "code point", 1],
    ["'\\u{}'", "code point", 1],
    ["'\\1'", "escape is not known", 1],
    ["'\\01'", "escape is not known", 1],
    ["'\\", "escape is not known", 1],
    ["012", "not a number", 0],
    ["1_000", "not a number", 0],
    ["10n", "not a number", 0],
    ["0xZZ", "not a number", 0],
    ["1e", "not a number", 0],
    ["@", 'the character "@" means nothing', 0],
    ["input # 1", 'the character "#" means nothing', 6],
    ["“a”", 'the character "“" means nothing', 0],
    ["a = 1", "cannot assign", 2],
    ["attempt ??= 1", "cannot assign", 10],
    ["attempt++", "cannot change a value", 7],
    ["1--1", "cannot change a value", 1],
    ["1 /* x", "never closed", 2],
    ["// x", "there is no expression here", 0],
    ["1 | 2", "pipes", 2],
    ["1 & 2", "bitwise", 2],
    ["1; 2", "without a semicolon", 1],
    ["(1;)", "without a semicolon", 2],
    ["f(a;)", "without a semicolon", 3],
    [";", "without a semicolon", 0],
    ["/a+", "never closed", 0],
    ["/a\nb/", "never closed", 0],
    ["input.name.match(/(/)", "this regular expression is no pattern", 17],
    ["input.name.match(/a/gg)", 'has the flag "g"', 17],
    ["input.name.match(/a/y)", 'has the flag "y"', 17],
    ["input.name.match(/(a)\\1/)", "refers back to a group", 17],
    ["input.name.match(/(?:a{1000}){9}/)", "repeats so much", 17],
    ["input.name.match(/[/]/", "expected", 22],
    ["1 ? 2", 'expected ":" and the other branch', 5],
    ["-2 ** 2", "a prefix before ** is ambiguous", 3],
    ["2 ** -1 ** 2", "a prefix before ** is ambiguous", 8],
    ["1 ?? 2 || 3", "cannot be mixed", 2],
    ["1 || 2 ?? 3", "cannot be mixed", 7],
    ["1 ?? 2 && 3", "cannot be mixed", 2],
    ["input.", "expected the name of a member", 6],
    ["input.1", 'not ".1"', 5],
    ["input[1", 'expected "]" after the key', 7],
    ["input?.(1)", "?.( is not available", 7],
    ["input`a`", "cannot follow a value", 5],
    ["input.a`b`", "cannot follow a value", 7],
    ["new Map()", '"new" is not available', 0],
    ["new Date", '"new" is not available', 0],
    ["new Date(1, 2)", "new Date takes one, or none", 10],
    ["in", '"in" is not available', 0],
    ["$env.HOME", "hand over what it may read as globals", 0],
    ["$workflow.active", "$workflow has id and name", 10],
    ["$workflow", 'expected "." and id or name', 9],
    ["$node", 'expected "."', 5],
    ["$node[1", 'expected "]"', 7],
    ["$node.1", 'expected "."', 5],
    ["$node. 1", "expected the name of a node", 7],
    ["$node.a", 'expected "." and json', 7],
    ["$node.a.binary", "write .json", 8],
    ["$items", 'expected "("', 6],
    ["$input.isExecuted", "write .item.json", 7],
    ["$items('a'", 'expected ")"', 10],
    ["uuid", "call it", 0],
    ["uuid + 1", "call it", 0],
    ["hash", "call one of its functions, hash.md5", 0],
    ["hash.sha257('a')", 'Did you mean "sha256"?', 5],
    ["hash.foo", "no such value", 5],
    ["hash()", '"hash" is not a function', 0],
    ["input.tags.map(uuid => uuid())", '"uuid" is not a function', 23],
    ["this.x", '"this" is not available', 0],
    ["inptu.x", 'Did you mean "input"?', 0],
    ["nmae", '"nmae" is not known here. Known: nodes, input', 0],
    ["process.env", '"process" is not known here', 0],
    ["fetch('x')", '"fetch" is not known here', 0],
    ["nodes", "name a node", 0],
    ["[nodes]", "name a node", 1],
    ["Number", "call it", 0],
    ["Math", "call one of its functions", 0],
    ["Math.mx(1)", 'Did you mean "max"?', 5],
    ["Math.foo", "no such value", 5],
    ["Math[1 + 1]", "no such value", 5],
    ["date.now()", "use $now", 5],
    ["input.tags.push(1)", "write [...items, item]", 11],
    ["input.tags.mapp(x => 1)", "only be the first argument", 16],
    ["input.name.toUppercase()", 'Did you mean "toUpperCase"?', 11],
    ["input.foo()", '"foo" is not available', 6],
    ["input['na' + 'me']()", "this cannot be called", 18],
    ["(input.name)()", "this cannot be called", 12],
    ["input()", '"input" is not a function', 0],
    ["nodes()", '"nodes" is not a function', 0],
    ["Math()", '"Math" is not a function', 0],
    ["input.tags.map(x => x(1))", '"x" is not a function', 20],
    ["1()", "this cannot be called", 1],
    ["x => 1", "only be the first argument", 0],
    ["[x => 1]", "only be the first argument", 1],
    ["Math.max((a, b) => 1)", "only be the first argument", 9],
    ["input.tags.reduce((a, b) => a, x => 1)", "only be the first argument", 31],
    ["input.tags.map()", "map needs an arrow function", 15],
    ["input.tags.map(1)", "map needs an arrow function", 15],
    ["input.tags.map((1))", "map needs an arrow function", 15],
    ["input.tags.map(([a, a]) => a)", 'two parameters are called "a"', 20],
    ["input.tags.map(([a], { a }) => a)", 'two parameters are called "a"', 23],
    ["input.tags.map(({ constructor }) => 1)", "plain data only", 18],
    ["input.tags.map(({ [a]: b }) => 1)", "expected the name of a member", 18],
    ["input.tags.map(([[a] [b]]) => 1)", 'expected ","', 21],
    ["input.tags.map(([:]) => 1)", "expected a name", 17],
    ["input.tags.map(([{ b }]) => b())", "this cannot be called", 29],
    [`input.tags.map((${"[".repeat(50)}a${"]".repeat(50)}) => a)`, "map needs an arrow function", 15],
    ["input.tags.map((a => 1))", "map needs an arrow function", 15],
    ["input.tags.map(([1]))", "map needs an arrow function", 15],
    ["input.tags.map(([(1)], 2", "map needs an arrow function", 15],
    ["input.tags.map((a, b, c, d) => 1)", "at most 3 parameters", 15],
    ["input.tags.map((a, a) => 1)", 'two parameters are called "a"', 19],
    ["input.tags.map((a b) => 1)", 'expected ","', 18],
    ["input.tags.map((,) => 1)", "the name of a parameter", 16],
    ["input.tags.map(x => { return x })", "x => ({", 20],
    ["input.tags.map(x => x 1)", "after the arrow function", 22],
    ["input.tags.map(x => y)", '"y" is not known here', 20],
    ["input.__proto__", "plain data only", 6],
    ["input.constructor", "plain data only", 6],
    ["input['prototype']", "plain data only", 6],
  ])("%s", (source, message, position) => {
    const error = errorOf(source) as StepfoldError<"EXPRESSION_INVALID">;
    expect(error.message).toContain(message);
    expect(error.code).toBe("EXPRESSION_INVALID");
    expect(error.details.position).toBe(position);
  });

  it("refuses what is too long, too deep or too large", () => {
    expect(errorOf(`'${"a".repeat(5000)}'`).message).toContain("longer than 4096 characters");
    expect(errorOf("(".repeat(40)).message).toContain("deeper than 32 levels");
    expect(errorOf("!".repeat(40)).message).toContain("deeper than 32 levels");
    expect(errorOf("1".concat("+1".repeat(400))).message).toContain("more than 500 parts");
    const chain = `${"attempt === 0 ? 0 : ".repeat(80)}1`;
    expect(run(chain)).toBe(1);
  });
});

describe("what fails while an expression runs", () => {
  it.each<[string, string, number]>([
    ["input.missing.a", 'cannot read "a": input.missing is undefined', 14],
    ["input.none.a", 'cannot read "a": input.none is null', 11],
    ["input.none[attempt]", "cannot read a member: input.none is null", 11],
    ["input.missing.trim()", "cannot read trim(): input.missing is undefined", 14],
    ["item.map(x => 1)", "item is undefined", 5],
    ["input.name.map(x => 1)", "map() works on arrays, but input.name is a text", 11],
    ["input.price.trim()", "trim() works on texts, but input.price is a number", 12],
    ["input.price.slice(1)", "works on texts and arrays", 12],
    ["input.trim()", "but input is an object", 6],
    ["input.yes.trim()", "a boolean", 10],
    ["input.tags.toFixed(1)", "toFixed() works on numbers, but input.tags is an array", 11],
    ["input * 2", "an object is no number", 6],
    ["input.tags > 2", "an array is no number", 11],
    ["+input", "an object is no number", 0],
    ["input[null]", "a key must be a text or a number, not null", 6],
    ["{ [null]: 1 }", "a key must be a text or a number", 2],
    ["{ ['__proto' + '__']: 1 }", '"__proto__" is not allowed', 2],
    ["input['const' + 'ructor']", '"constructor" cannot be read', 6],
    ["[...input]", "only an array can be spread here, not an object", 4],
    ["{ ...input.tags }", "only an object can be spread here, not an array", 2],
    ["null in input", "a key must be a text or a number, not null", 5],
    ["'a' in input.name", '"in" needs an object or array, not a text', 4],
    ["input.missing!", "input.missing is missing, and the ! after it says", 0],
    ["input.none!.a", "input.none is null, and the ! after it says", 0],
    ["input.none?.a!", "is missing, and the ! after it says", 0],
    ["[1].map(([a]) => a.b)", "cannot read", 19],
    ["[null].map(([a]) => a)", 'cannot read "0": [a] is null', 20],
  ])("%s", (source, message, position) => {
    const error = errorOf(source) as StepfoldError<"EXPRESSION_FAILED">;
    expect(error.message).toContain(message);
    expect(error.message).toContain(`(character ${position + 1})`);
    expect(error.code).toBe("EXPRESSION_FAILED");
    expect(error.details.position).toBe(position);
  });

  it("says where in the definition it stands", () => {
    const failing = compileExpression("input.missing.a", "/nodes/0/retryPolicy/retryIf");
    expect(() => failing.evaluate(scope)).toThrow("at /nodes/0/retryPolicy/retryIf failed");
  });

  it("cuts long sources in messages", () => {
    const long = `input.${"a".repeat(80)}.b`;
    expect(errorOf(long).message).toContain("…");
  });

  it("calls what it cannot name a class instance or a function", () => {
    const odd = { globals: { date: new Date(0), run: () => 1, map: new Map() } };
    expect(() => compileExpression("globals.date.x").evaluate(odd)).toThrow("a class instance");
    expect(() => compileExpression("globals.run").evaluate(odd)).toThrow('"run" is a function');
    expect(() => compileExpression("input.x").evaluate({ input: () => 1 })).toThrow("of a function");
  });
});

describe("errors of this library", () => {
  it("keep their type through a copy of the module", () => {
    expect(StepfoldError.is(errorOf("1 +"), "EXPRESSION_INVALID")).toBe(true);
  });
});
