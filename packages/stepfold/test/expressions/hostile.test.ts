// biome-ignore-all lint/suspicious/noTemplateCurlyInString: template strings of the language under test
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { tries } from "../../../../scripts/test/effort.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { executionScope } from "../../src/expressions/compile/scope.ts";
import { compileExpression } from "../../src/expressions/compile-expression.ts";
import { compileTemplate } from "../../src/expressions/compile-template.ts";

class Secret {
  token = "s3cret";
  reveal(): string {
    return this.token;
  }
}

let reached = 0;
const trap = (): number => ++reached;
const shadowed = Object.assign([1, 2, 3], {
  map: trap,
  slice: trap,
  toJSON: trap,
  [Symbol.iterator]: trap,
  constructor: { [Symbol.species]: trap },
});
const globals = {
  run: trap,
  secret: new Secret(),
  date: new Date(0),
  map: new Map([["a", 1]]),
  big: 10n,
  mark: Symbol("mark"),
  shadowed,
  list: [trap, new Secret()],
  deep: { down: { run: trap } },
  thenable: { then: trap },
  toJSON: trap,
  valueOf: trap,
  toString: trap,
  poisoned: JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}') as unknown,
  cyclic: {} as Record<string, unknown>,
};
globals.cyclic.self = globals.cyclic;

const context = { a: [{ output: { name: "Ada", list: [1, "x", { b: null }], n: 3 }, timestamp: 1, attempt: 1, pathId: "0", version: 1 }] };
const scope = executionScope({
  context,
  since: 9,
  metadata: {},
  at: 0,
  input: { name: "Ada", then: "x" },
  globals,
  previous: context.a[0],
});

const KEYS = ["constructor", "__proto__", "prototype"];
const names = (value: object): string[] => Object.getOwnPropertyNames(value);
const before = {
  object: names(Object.prototype),
  array: names(Array.prototype),
  text: names(String.prototype),
  fn: names(Function.prototype),
};

/** Returns the value if it is plain data, or the code of a `StepfoldError`; anything else fails the test. */
function outcome(source: string): unknown {
  try {
    const value = compileExpression(source).evaluate(scope);
    expectPlain(value, 0);
    return value;
  } catch (error) {
    if (!StepfoldError.is(error)) throw error;
    expect(error.code).toMatch(/^EXPRESSION_(INVALID|FAILED|BUDGET)$/);
    if (error.code !== "EXPRESSION_BUDGET") {
      const { position, source: shown } = error.details as { position: number; source: string };
      expect(position).toBeGreaterThanOrEqual(0);
      expect(position).toBeLessThanOrEqual(shown.length);
    }
    return error.code;
  }
}

function expectPlain(value: unknown, depth: number): void {
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") throw new Error("no data came out");
  if (typeof value !== "object" || value === null) return;
  expect(depth).toBeLessThan(100);
  expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(value));
  for (const key of Object.keys(value)) expectPlain((value as Record<string, unknown>)[key], depth + 1);
}

afterAll(() => {
  expect(reached).toBe(0);
  expect({
    object: names(Object.prototype),
    array: names(Array.prototype),
    text: names(String.prototype),
    fn: names(Function.prototype),
  }).toEqual(before);
  expect(({} as { polluted?: unknown }).polluted).toBe(undefined);
});

describe("hostile expressions", () => {
  it.each(
    [
      "input",
      "'a'",
      "1",
      "true",
      "[]",
      "{}",
      "globals",
      "globals.secret",
      "input.name",
      "[1].map(x => x)",
      "$json",
      "nodes.a",
      "date",
      "Math",
      "`a`",
    ].flatMap((owner) =>
      KEYS.flatMap((key) => [
        `${owner}.${key}`,
        `${owner}?.${key}`,
        `${owner}["${key}"]`,
        `${owner}?.["${key}"]`,
        `${owner}["${key.slice(0, 3)}" + "${key.slice(3)}"]`,
        `${owner}[\`${key}\`]`,
        `${owner}[["${key}"].join()]`,
        `${owner}[["${key}"]]`,
        `${owner}["${key}".toString()]`,
        `${owner}.${key}.${key}("return process")()`,
        `${owner}["\\u00${key.charCodeAt(0).toString(16)}${key.slice(1)}"]`,
        `${owner}.map(x => x.${key})`,
      ]),
    ),
  )("get nothing from %s", (source) => {
    expect(["EXPRESSION_INVALID", "EXPRESSION_FAILED"]).toContain(outcome(source));
  });

  it.each([
    // Jexl #142 and #92: computed keys and methods as values
    "input.name.toUpperCase",
    'input["name"]["constructor"]["constructor"]("return this")()',
    "'a'.sub.constructor",
    "[].at.call",
    // n8n CVE-2025-68613, CVE-2026-1470 and similar attacks
    "(function(){ return this.process.mainModule.require('child_process').execSync('id') })()",
    "(() => this.process)()",
    "$json.constructor.constructor('return process')()",
    "[].filter.constructor('return process')()",
    "Object.getPrototypeOf([])",
    "Object.defineProperty({}, 'a', {})",
    "Object.assign(Object, { prototypes: 1 })",
    "Object.prototype",
    "Reflect.get({}, 'constructor')",
    "with (input) { constructor }",
    "new Error().stack",
    "import('fs')",
    "require('fs')",
    "process.env",
    "globalThis",
    "eval('1')",
    "Function('return 1')()",
    "this",
    "arguments.callee",
    "Error.prepareStackTrace",
    // prototype pollution
    "{ __proto__: { polluted: true } }",
    "{ ['__pro' + 'to__']: { polluted: true } }",
    "{ ...globals.poisoned }",
    "Object.fromEntries([['__proto__', { polluted: true }]])",
    'JSON.parse(\'{"__proto__": { "polluted": true }}\')',
    "globals.poisoned",
    "input.__defineGetter__('a', 1)",
    // host objects
    "globals",
    "globals.run",
    "globals.run()",
    "globals['r' + 'un']",
    "globals.secret",
    "globals.secret.token",
    "globals.secret.reveal()",
    "[globals.secret]",
    "{ a: { b: globals.secret } }",
    "globals.date",
    "globals.date + ''",
    "`${globals.map}`",
    "globals.map.a",
    "globals.big",
    "globals.big + 1",
    "globals.big.x",
    "`${globals.big}`",
    "globals.mark",
    "`${globals.mark}`",
    "globals.mark < 1",
    "globals.list",
    "globals.list[0]",
    "globals.list.map(x => x)",
    "globals.list.map(x => x())",
    "globals.list.join()",
    "globals.deep",
    "globals.thenable",
    "Object.values(globals)",
    "JSON.stringify(globals)",
    "JSON.stringify({ a: globals.deep })",
    "globals.cyclic",
    "JSON.stringify(globals.cyclic)",
    "+globals",
    "globals > 1",
    "nodes.constructor",
    "nodes['__proto__'].last",
    "nodes['const' + 'ructor'].polluted",
    // deeply nested and long expressions
    "[".repeat(5000),
    "(".repeat(5000),
    "{a:".repeat(5000),
    "!".repeat(4000),
    "`${".repeat(2000),
    "2**".repeat(1300),
    "a?".repeat(2000),
    "[].map(x=>".repeat(400),
    "a.b".repeat(3000),
    "(a,".repeat(1300),
    // regular expressions
    "/(a+)+$/.test('a'.repeat(400000) + '!')",
    "input.name.match('(a+)+$')",
    "input.name.search('(a+)+$')",
    "input.name.matchAll('(a+)+$')",
  ])("get nothing from %s", (source) => {
    expect(String(outcome(source))).toMatch(/^EXPRESSION_|^undefined$/);
  });

  it("treat patterns as plain text, and long searches as work", () => {
    expect(outcome("'aaa'.split('(a+)+$')")).toEqual(["aaa"]);
    expect(outcome("'a.b'.replaceAll('.', '$&')")).toBe("a$&b");
    expect(outcome("date.add(0, '1'.repeat(90))")).toBe("EXPRESSION_FAILED");
  });

  it("never meet a method that somebody hung on an array", () => {
    expect(outcome("globals.shadowed.map(x => x + 1)")).toEqual([2, 3, 4]);
    expect(outcome("globals.shadowed.slice(1)")).toEqual([2, 3]);
    expect(outcome("[...globals.shadowed, ...globals.shadowed.concat(globals.shadowed).flat()].length")).toBe(9);
    expect(outcome("globals.shadowed")).toEqual([1, 2, 3]);
    expect(outcome("`${globals.shadowed.toSorted()}${globals.shadowed.includes(2)}`")).toBe("[1,2,3]true");
    expect(outcome("globals.shadowed.length")).toBe(3);
    expect(outcome("globals.shadowed.slice")).toBe("EXPRESSION_FAILED");
  });

  it("let things that are no data be compared, but nothing else", () => {
    expect(outcome("globals.secret ? typeof globals.list[0] === 'object' : 1")).toBe("EXPRESSION_FAILED");
    expect(outcome("globals.secret === globals.secret && globals.list.map(x => typeof x)")).toEqual(["object", "object"]);
  });

  it("give data with a member `then` only as data", async () => {
    const value = compileExpression("{ then: input.then, catch: 1 }").evaluate(scope);
    expect(outcome("{ then: input.name['toLowerCase'] }")).toEqual({ then: undefined });
    expect(await Promise.resolve(value)).toEqual({ then: "x", catch: 1 });
  });

  it("end with our error when a getter of the host throws", () => {
    const cause = new TypeError("no database");
    const broken = executionScope({
      context: {},
      since: 0,
      metadata: {},
      at: 0,
      globals: {
        get db() {
          throw cause;
        },
      },
    });
    try {
      compileExpression("globals.db.url").evaluate(broken);
      expect.unreachable();
    } catch (error) {
      expect(StepfoldError.is(error, "EXPRESSION_FAILED")).toBe(true);
      expect((error as StepfoldError).cause).toBe(cause);
    }
  });
});

describe("garbage", () => {
  const pieces = fc.constantFrom(
    ..."{{ }} { } ( ) [ ] . ?. ... => , : ? ?? || && ! - + * ** / % < > === == = ` ${ ' \" \\ \\u $ $input $json nodes input globals item x a map filter constructor __proto__ prototype toString then Math JSON Object date 1 0x 1e 'a' \"b\" null undefined true typeof new this 😀 é".split(
      " ",
    ),
    " ",
    "\n",
  );
  const garbage = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.array(pieces, { maxLength: 25 }).map((list) => list.join("")),
  );

  it("never gives anything but plain data or our error", () => {
    fc.assert(
      fc.property(garbage, (source) => {
        outcome(source);
      }),
      { numRuns: tries(5_000) },
    );
  });

  it.each([
    "'a' in 5",
    "1 + ('a' in 'b')",
    "!('a' in null)",
  ])("that always fails is compiled, and fails when it is evaluated: %s", (source) => {
    const { template, issues } = compileTemplate({ a: `{{ ${source} }}` }, "");
    expect(issues).toEqual([]);
    expect(() => template!.evaluate(scope)).toThrow(expect.objectContaining({ code: "EXPRESSION_FAILED" }));
  });

  it("in data gives issues, and never throws", () => {
    fc.assert(
      fc.property(garbage, (source) => {
        const { template, issues } = compileTemplate({ a: source, b: `x {{ ${source} }}` }, "");
        expect(template === null).toBe(issues.length > 0);
        try {
          if (template !== null) expectPlain(template.evaluate(scope), 0);
        } catch (error) {
          if (!StepfoldError.is(error)) throw error;
        }
      }),
      { numRuns: tries(2_000) },
    );
  });
});
