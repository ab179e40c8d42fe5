// biome-ignore-all lint/suspicious/noTemplateCurlyInString: template strings of the language under test
import { describe, expect, it } from "vitest";
import type { Scope } from "../core/definition/template.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import type { Json } from "../core/values/json.ts";
import { executionScope } from "./compile/scope.ts";
import { compileTemplate, compileTemplateWithin } from "./compile-template.ts";
import { defaultExpressionLimits } from "./evaluation/expression-limits.ts";

const scope: Scope = { input: { name: "Ada", price: 21, tags: ["a"], none: null } };
const fill = (value: Json): unknown => compileTemplate(value, "/data").template!.evaluate(scope);
const issuesOf = (value: Json): readonly string[] =>
  compileTemplate(value, "/data").issues.map(({ pointer, message }) => `${pointer}: ${message}`);

describe("compileTemplate", () => {
  it("has no template for values without expressions", () => {
    for (const value of [1, null, true, "a { b } }}", [1, { a: "b" }], {}] as Json[]) {
      expect(compileTemplate(value, "")).toEqual({ template: null, issues: [] });
    }
  });

  it("keeps the type of a string that is one expression", () => {
    expect(fill("{{ input.price }}")).toBe(21);
    expect(fill(" \n{{ input.tags }}\t")).toEqual(["a"]);
    expect(fill("{{ input.missing }}")).toBe(undefined);
    expect(fill("{{ input.none }}")).toBe(null);
  });

  it("puts values into text", () => {
    expect(fill("{{ input.name }}: {{ input.price * 2 }} €")).toBe("Ada: 42 €");
    expect(fill("[{{ input.none }}{{ input.missing }}]")).toBe("[]");
    expect(fill("{{ input.tags }} {{ input }}")).toBe('["a"] {"name":"Ada","price":21,"tags":["a"],"none":null}');
    expect(fill("{{ 1 }}{{ 2 }}")).toBe("12");
  });

  it("finds the end of an expression whatever it holds", () => {
    expect(fill("{{ '}}' }}")).toBe("}}");
    expect(fill("a{{ { b: { c: `}}${'}}'}` }}.b.c }}}}")).toBe("a}}}}}}");
    expect(fill('{{ "{{" }} stays')).toBe("{{ stays");
    expect(fill("{{{ a: 1 }}}")).toEqual({ a: 1 });
  });

  it("drops undefined members and keeps the place of undefined items", () => {
    expect(fill({ a: "{{ input.missing }}", b: "{{ 1 }}", c: [2, "{{ input.missing }}", "{{ 3 }}"] })).toEqual({ b: 1, c: [2, null, 3] });
  });

  it("gives back what has no expression as it is", () => {
    const constant = Object.freeze({ deep: [1] });
    const filled = fill({ constant, "{{ key }}": "{{ 1 }}", list: [constant, "{{ 2 }}"] }) as Record<string, unknown>;
    expect(filled.constant).toBe(constant);
    expect((filled.list as unknown[])[0]).toBe(constant);
    expect(Object.keys(filled)).toEqual(["constant", "{{ key }}", "list"]);
  });

  it("sets a member called __proto__ without touching the prototype", () => {
    const filled = fill(JSON.parse('{"__proto__": "{{ input }}"}') as Json);
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
    expect(Object.hasOwn(filled as object, "__proto__")).toBe(true);
  });

  it("collects every mistake with its place", () => {
    const value = {
      "a/b~c": ["{{ inptu }}", "{{ 1 + }} and {{ 2 + }} and {{ 3 }}"],
      d: "{{ 'open }}",
      e: "{{ input",
      f: "{{ }}",
      g: "{{ 1 @ }} {{ 2 @",
    };
    const issues = issuesOf(value);
    expect(issues).toHaveLength(8);
    expect(issues[0]).toContain('/data/a~1b~0c/0: "inptu", character 1: "inptu" is not known');
    expect(issues[1]).toContain('/data/a~1b~0c/1: "1 +", character 4: expected a value');
    expect(issues[2]).toContain('"2 +", character 4');
    expect(issues[3]).toContain("never closed");
    expect(issues[4]).toContain('{{ "{{" }}');
    expect(issues[5]).toContain("there is no expression here");
    expect(compileTemplate(value, "").template).toBe(null);
    expect(compileTemplate(value, "").issues[0]).toMatchObject({ severity: "error", code: "EXPRESSION_INVALID" });
  });

  it("does not walk values without end", () => {
    let value: Json = "{{ 1 }}";
    for (let depth = 0; depth < 5000; depth++) value = [value];
    expect(issuesOf(value)[0]).toContain("nested deeper than 64 levels");
  });

  it("says what it may read, once", () => {
    const { template } = compileTemplate(["{{ input.name }}", "{{ input.name }} {{ nodes.a.last.data.id }}"], "");
    expect(template!.reads).toEqual([
      ["input", "name"],
      ["nodes", "a", "last", "data", "id"],
    ]);
  });

  it("says where an evaluation failed", () => {
    const { template } = compileTemplate({ url: ["x {{ input.a.b }}"] }, "/nodes/3/data");
    expect(() => template!.evaluate(scope)).toThrow('{{ input.a.b }} at /nodes/3/data/url/0 failed: cannot read "b": input.a is undefined');
  });

  it("bounds all expressions of a template together", () => {
    const big = "{{ 'a'.repeat(2100000) }}";
    expect(() => fill([big, big])).toThrow("needs more than its budget of 4000000 characters of output");
    const slow = "{{ Array.isArray([]) ? input.tags.map(x => 1).length : 0 }}";
    const limits = { ...defaultExpressionLimits, steps: 3 };
    const many = (count: number) =>
      compileTemplateWithin(
        Array.from({ length: count }, () => slow),
        "",
        limits,
      ).template!;
    expect(many(6).evaluate(scope)).toHaveLength(6);
    expect(() => many(7).evaluate(scope)).toThrow("needs more than its budget of 3 steps");
  });

  it("refuses to put what is no data into text", () => {
    const odd = executionScope({ context: {}, since: 0, metadata: {}, at: 0, globals: { date: new Date(0) } });
    expect(() => compileTemplate("at {{ globals.date }}", "").template!.evaluate(odd)).toThrow("a class instance");
  });

  it("lets errors of its own code through", () => {
    const broken = { ...defaultExpressionLimits };
    Object.defineProperty(broken, "depth", {
      get() {
        throw new RangeError("bug");
      },
    });
    expect(() => compileTemplateWithin("{{ 1 }}", "", broken)).toThrow(RangeError);
    expect(StepfoldError.is(null)).toBe(false);
  });
});
