import { describe, expect, it, vi } from "vitest";
import { evaluate } from "../../src/expressions/compile/evaluate.ts";
import { executionScope } from "../../src/expressions/compile/scope.ts";
import { compileExpression, programOf } from "../../src/expressions/compile-expression.ts";
import { compileTemplate } from "../../src/expressions/compile-template.ts";
import { defaultExpressionLimits, expressionLimits } from "../../src/expressions/evaluation/expression-limits.ts";
import { allExtraFunctions } from "../../src/expressions/extra/all-extra-functions.ts";
import { provideExtraFunctions } from "../../src/expressions/functions/extra-functions.ts";
import { tokenize } from "../../src/expressions/syntax/tokenize.ts";
import { bench } from "../nodes/workflow.fixture.ts";

// The budget of an expression is charged in proportion to the work of each operation.

provideExtraFunctions(allExtraFunctions);
const items = Array.from({ length: 310 }, (_, i) => Math.PI ** (i % 30));
const many = (call: string, times = 30): string => `input.items.map(v => [${Array.from({ length: times }, () => call).join(", ")}].length)`;

describe("F3: work that cost nothing", () => {
  it.each([
    "(1 / v).toString(2)",
    "v.toFixed(100)",
    "v.toPrecision(100)",
    "date.iso(v)",
    "date.format(v)",
    "date.add(v, '1 month')",
  ])("is paid for: %s", (call) => {
    expect(() => compileExpression(many(call), undefined, expressionLimits(10_000)).evaluate({ input: { items } })).toThrow(
      expect.objectContaining({ code: "EXPRESSION_BUDGET" }),
    );
  });

  it.each([
    "Number(t)",
    "+t",
    "parseInt(t)",
    "parseFloat(t)",
    "Math.abs(t)",
    "isNaN(t)",
    "t > 1",
  ])("by the digits of a text: %s", (call) => {
    const input = { items: items.slice(0, 20), digits: "1".repeat(300_000) };
    const source = `input.items.map(v => input.digits).map(t => ${call}).length`;
    expect(() => compileExpression(source, undefined, expressionLimits(10_000)).evaluate({ input })).toThrow(
      expect.objectContaining({ code: "EXPRESSION_BUDGET" }),
    );
    expect(compileExpression(source).evaluate({ input: { items, digits: "12" } })).toBe(310);
  });

  it("in all expressions of one node's data together", () => {
    const one = `{{ ${many("v.toString(2)", 5)}.length }}`;
    const times = (count: number) =>
      compileTemplate(
        Array.from({ length: count }, () => one),
        "",
      ).template!;
    expect(times(2).evaluate({ input: { items } })).toEqual([310, 310]);
    expect(() => times(100).evaluate({ input: { items } })).toThrow(expect.objectContaining({ code: "EXPRESSION_BUDGET" }));
  });
});

describe("work that depends on a value of a user", () => {
  const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, 1]));
  const rows = Array.from({ length: 1_000 }, () => wide);
  const costs = (source: string, input: unknown): number => {
    const before = 1e9;
    const budget = { stepsLeft: before, outputLeft: before };
    evaluate(
      programOf(tokenize(source, 0, false, 4_096), {
        pointer: undefined,
        limits: { ...defaultExpressionLimits, steps: before },
        names: undefined,
        isStored: false,
      }).program,
      { input },
      budget,
    );
    return before - budget.stepsLeft;
  };

  it.each([
    "input.rows.map(row => input.wide.isEmpty()).length",
    "input.rows.filter(row => input.wide.isNotEmpty()).length",
    "input.rows.map(row => $ifEmpty(input.wide, 1)).length",
    "input.rows.compact().length",
  ])("is paid for by the keys of an object: %s", (source) => {
    expect(costs(source, { rows, wide })).toBeGreaterThan(2_000_000);
    expect(costs(source, { rows: rows.map(() => ({ a: 1 })), wide: { a: 1 } })).toBeLessThan(5_000);
  });

  it("is not done where a few letters decide", () => {
    const lower = vi.spyOn(String.prototype, "toLowerCase");
    try {
      const text = "FALSE".repeat(1_000);
      expect(compileExpression("input.map(text => text.toBoolean())").evaluate({ input: ["False", "NO", "0", "", text, "yes"] })).toEqual([
        false,
        false,
        false,
        false,
        true,
        true,
      ]);
      expect(lower.mock.contexts.map(String)).not.toContain(text);
    } finally {
      lower.mockRestore();
    }
  });
});

describe("F3: conditions that hold paths", () => {
  const heavy = "input.map(v => input.map(w => v * w)).length === 0";
  const holding = (nodes: number, when: (i: number) => string): object => {
    const ids = Array.from({ length: nodes }, (_, i) => `n${i}`);
    return {
      id: "w",
      start: "s",
      nodes: [{ id: "s", type: "noop" }, { id: "q", type: "approval" }, ...ids.map((id, i) => ({ id, type: "noop", when: when(i) }))],
      edges: ["q", ...ids].map((target) => ({ source: "s", target })),
    };
  };

  it("are paid for together in each transition", async () => {
    const input = Array.from({ length: 60 }, (_, i) => i);
    const { engine } = bench(holding(200, (i) => `${heavy} && ${i} < 0`));
    expect(await engine.execute({ input })).toMatchObject({ status: "failed", error: { code: "EXPRESSION_BUDGET" } });
    expect(await bench(holding(10, () => heavy)).engine.execute({ input })).toMatchObject({ status: "paused" });
  });

  it("are asked once for all paths at a node", async () => {
    const loop = (times: number): object => ({
      id: "w",
      start: "s",
      nodes: [
        { id: "s", type: "noop" },
        { id: "q", type: "approval" },
        { id: "n", type: "noop", when: heavy },
      ],
      edges: [{ source: "s", target: "q" }, ...Array.from({ length: times }, () => ({ source: "s", target: "n" }))],
    });
    const input = Array.from({ length: 60 }, (_, i) => i);
    expect((await bench(loop(500)).engine.execute({ input })).activePaths).toHaveLength(501);
  });
});

describe("F3: the latest result of a node", () => {
  const pathId = "0";
  const list = Array.from({ length: 60_000 }, (_, i) => ({ output: i, timestamp: 0, attempt: 1, pathId, version: 2 * i + 10 }));
  let reads = 0;
  const results = new Proxy(list, {
    get: (target, key, self) => {
      reads += Number(typeof key === "string" && /^\d+$/.test(key));
      return Reflect.get(target, key, self) as unknown;
    },
  });
  const last = (since: number): unknown => {
    reads = 0;
    const scope = executionScope({ context: { n: results }, since, metadata: {}, at: 0 } as never);
    return compileExpression("nodes.n.last?.data").evaluate(scope);
  };

  it.each([
    0, 9, 10, 11, 5_000, 60_010, 120_007, 120_008, 999_999,
  ])("is found without looking at all of them, as of version %i", (since) => {
    expect(last(since)).toBe(list.findLast(({ version }) => version <= since)?.output);
    expect(reads).toBeLessThan(40);
  });
});

describe("F16 g: the JSON of deep data, indented", () => {
  it("is paid for before it is made", () => {
    const deep = Array.from({ length: 60 }).reduce<unknown>((inner) => [inner, ...Array.from({ length: 300 }, () => 1)], 1);
    const expression = compileExpression("JSON.stringify(input, null, 10)");
    const written = vi.spyOn(JSON, "stringify");
    try {
      expect(() => expression.evaluate({ input: deep })).toThrow(expect.objectContaining({ code: "EXPRESSION_BUDGET" }));
      expect(written).not.toHaveBeenCalled();
    } finally {
      written.mockRestore();
    }
    expect(compileExpression("JSON.stringify(input, null, 2)").evaluate({ input: { a: [1] } })).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(compileExpression("JSON.stringify(input).length").evaluate({ input: deep })).toBeGreaterThan(36_000);
  });
});
