import { describe, expect, it } from "vitest";
import { check, compile } from "../../src/core/definition/compile/compile.ts";
import type { WorkflowDefinition } from "../../src/core/definition/definition.ts";
import { definitionHash } from "../../src/core/definition/definition-hash.ts";
import { withNeeds } from "../../src/core/definition/needs.ts";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import { apply, fold } from "../../src/core/transition/apply.ts";
import { defaultLimits } from "../../src/core/values/limits.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";
import { eventOn, graph, startedAt } from "./execution.fixture.ts";

const declaring = (variables: unknown, data: unknown = null, more: object = {}): WorkflowDefinition =>
  ({ id: "flow", nodes: [{ id: "a", type: "set", data }], edges: [], variables, ...more }) as WorkflowDefinition;
const issuesOf = (definition: WorkflowDefinition): string[] =>
  check(definition, expressionLanguage).map(({ code, pointer, severity }) => `${severity === "warning" ? "(" : ""}${code} ${pointer}`);

describe("declared variables", () => {
  it.each<[unknown, string[]]>([
    [{ a: {}, b: { initial: null }, c: { reducer: "append", initial: [] }, d: { reducer: "{{ current + value }}" } }, []],
    [[], ["TYPE /variables"]],
    [{ "a b": {} }, ["ID_INVALID /variables"]],
    [{ a: 5 }, ["TYPE /variables/a"]],
    [{ a: { reducer: "sum" } }, ["TYPE /variables/a/reducer"]],
    [{ a: { reducer: 5 } }, ["TYPE /variables/a/reducer"]],
    [{ a: { reducer: "{{ current + }}" } }, ["EXPRESSION_INVALID /variables/a/reducer"]],
    [{ a: { reducer: "{{ current + input.x }}" } }, ["EXPRESSION_INVALID /variables/a/reducer"]],
    [{ a: { initial: "{{ input.x }}" } }, ["TYPE /variables/a/initial"]],
    [{ a: { initial: "0", reducer: "add" } }, ["TYPE /variables/a/initial"]],
    [{ a: { initial: {}, reducer: "append" } }, ["TYPE /variables/a/initial"]],
    [{ a: { initial: [], reducer: "merge" } }, ["TYPE /variables/a/initial"]],
    [{ a: { initial: true, reducer: "max" } }, ["TYPE /variables/a/initial"]],
    [{ a: { initial: "x", reducer: "max" }, b: { initial: 1, reducer: "max" } }, []],
    [{ a: { default: 0 } }, ["KEY_UNKNOWN /variables/a/default"]],
    [{ a: { unit: "EUR" } }, ["(KEY_UNKNOWN /variables/a/unit"]],
  ])("%j has the issues %j", (variables, issues) => expect(issuesOf(declaring(variables))).toEqual(issues));

  it("are at most so many as the limit says, in a definition that is handed over", () => {
    const two = declaring({ a: {}, b: {} });
    const limits = { ...defaultLimits, variables: 1 };
    expect(check(two, expressionLanguage, limits)).toMatchObject([{ code: "TOO_MANY", pointer: "/variables" }]);
    expect(compile(two, expressionLanguage, limits, { isStored: true }).variables.size).toBe(2);
  });

  it("are part of what a definition is, and a worker must know of them", () => {
    const plain = declaring(undefined);
    expect(definitionHash(declaring({ a: {} }))).not.toBe(definitionHash(plain));
    expect(definitionHash(declaring({ a: { reducer: "add" } }))).not.toBe(definitionHash(declaring({ a: {} })));
    expect(withNeeds(plain)).not.toHaveProperty("needs");
    expect(withNeeds(declaring({}))).toMatchObject({ needs: ["variables"] });
    expect(withNeeds(declaring(undefined, { vars: { x: 1 } }))).toMatchObject({ needs: ["variables"] });
    expect(withNeeds(declaring(undefined, { vars: 5 }))).not.toHaveProperty("needs");
  });
});

describe("an expression that reads a variable", () => {
  it("that nobody declares or sets gets a warning, once", () => {
    const data = { x: "{{ vars.totl }}", y: "{{ vars.totl + 1 }}", z: "{{ [vars.totl, vars.totl] }}" };
    const [first, ...others] = check(declaring({ total: {} }, data), expressionLanguage);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      severity: "warning",
      code: "VARIABLE_UNKNOWN",
      message: expect.stringContaining('Did you mean "total"?'),
    });
  });

  it("that is declared or set, here or around, gets none, nor does one whose name is computed", () => {
    const inner = declaring({ own: {} }, ["{{ vars.own }}", "{{ vars.outer }}", "{{ vars.set }}"], { id: "inner" });
    const outer = declaring(
      { outer: {} },
      { vars: { set: 1 }, all: "{{ vars }}", one: "{{ vars[input.name] }}", no: "{{ vars.own }}" },
      { workflows: { inner } },
    );
    expect(issuesOf(outer)).toEqual(["(VARIABLE_UNKNOWN /nodes/0/data"]);
  });
});

describe("variables in a snapshot from outside", () => {
  const flow = graph(["a>b"]);
  const first = fold(flow, [startedAt(flow, "a")]);
  const given = {
    ...first,
    variables: {
      x: [
        { value: 1, version: -3 },
        { value: [2], version: 0 },
      ],
    },
  };

  it("are read as they were written, and what no path can read is let go with the next event", () => {
    const read = readSnapshot(JSON.parse(JSON.stringify(given)), flow);
    expect(read.variables).toEqual(given.variables);
    expect(apply(flow, read, eventOn(read, "0", { done: 1 })).variables).toEqual({ x: [{ value: [2], version: 0 }] });
    expect(readSnapshot({ ...first, variables: {} }, flow)).not.toHaveProperty("variables");
  });

  it.each<[unknown, string]>([
    [[], "/variables"],
    [{ "a b": [{ value: 1, version: 0 }] }, "/variables/a b"],
    [{ x: {} }, "/variables/x"],
    [{ x: [] }, "/variables/x"],
    [{ x: [5] }, "/variables/x/0"],
    [{ x: [{ version: 0 }] }, "/variables/x/0/value"],
    [{ x: [{ value: 1 }] }, "/variables/x/0/version"],
    [{ x: [{ value: 1, version: 7 }] }, "/variables/x/0/version"],
    [
      {
        x: [
          { value: 1, version: 0 },
          { value: 1, version: 0 },
        ],
      },
      "/variables/x/1/version",
    ],
  ])("%j is refused at %s", (variables, pointer) => {
    expect(() => readSnapshot({ ...first, variables }, flow)).toThrow(
      expect.objectContaining({ code: "SNAPSHOT_INVALID", details: expect.objectContaining({ pointer }) }),
    );
  });
});
