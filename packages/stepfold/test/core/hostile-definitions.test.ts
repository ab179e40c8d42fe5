import { describe, expect, it } from "vitest";
import { check, checkCounted, compile } from "../../src/core/definition/compile/compile.ts";
import { defaultLimits } from "../../src/core/values/limits.ts";
import { WorkBudget } from "../../src/core/values/work-budget.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";

const long = (text: string): string => text.padEnd(128, "x");
const range = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index));
const named = (count: number, more: (index: number) => object = () => ({})) =>
  range(count, (i) => ({ id: `n${i}`, type: "noop", ...more(i) }));
const one = { id: "one", nodes: [{ id: "a", type: "noop" }], edges: [] };

/** Definitions that are costly to check, in a given size. The cost has to grow in proportion to the size, or end in a limit's error. */
const hostile: Readonly<Record<string, (size: number) => object>> = {
  "cancels with wrong ids": (size) => ({
    id: "w",
    nodes: range(size, (i) => ({
      id: long(`node-${i}-`),
      type: "noop",
      cancels: i < size / 10 ? range(100, (j) => long(`nude-${j}-`)) : [],
    })),
    edges: [],
  }),
  "nodes that name workflows which are not there": (size) => ({
    id: "w",
    nodes: named(size, (i) => ({ type: "workflow", data: { workflow: long(`nude-${i}-`) } })),
    edges: [],
    workflows: Object.fromEntries(range(size, (i) => [long(`name-${i}-`), one])),
  }),
  "equal edges": (size) => ({ id: "w", nodes: named(2), edges: range(size, () => ({ source: "n0", target: "n1" })) }),
  "many workflows of one node": (size) => ({ ...one, workflows: Object.fromEntries(range(size, (i) => [`w${i}`, one])) }),
  "a few nodes with many edges": (size) => ({
    id: "w",
    nodes: named(5),
    edges: range(size, (i) => ({ source: `n${i % 2}`, target: `n${2 + (i % 3)}` })),
  }),
  "many joins with many edges": (size) => ({
    id: "w",
    nodes: named(size, () => ({ join: "all" })),
    edges: range(size * 30, (i) => ({ source: `n${(i * 7919) % size}`, target: `n${i % size}` })),
  }),
  "many expressions that are none": (size) => ({ ...one, nodes: [{ id: "a", type: "set", data: "{{;}}".repeat(size) }] }),
  "loops into each other": (size) => ({
    id: "w",
    start: "n0",
    nodes: [...named(size), { id: "j", type: "noop", join: "all" }],
    edges: range(size - 1, (i) => [
      { source: `n${i}`, target: `n${i + 1}` },
      { source: `n${i + 1}`, target: `n${i}` },
      { source: `n${i}`, target: "j" },
    ]).flat(),
  }),
  "unknown keys": (size) => ({
    ...one,
    nodes: [{ id: "a", type: "noop", ...Object.fromEntries(range(size, (i) => [`retryPolicz${i}`, 1])) }],
  }),
};

const sizes: Readonly<Record<string, number>> = {
  "cancels with wrong ids": 5_000,
  "nodes that name workflows which are not there": 200,
  "equal edges": 20_000,
  "many workflows of one node": 8_000,
  "a few nodes with many edges": 20_000,
  "many joins with many edges": 2_000,
  "many expressions that are none": 130_000,
  "loops into each other": 5_000,
  "unknown keys": 20_000,
};

describe("F2: a definition that was made to cost much", () => {
  it.each(Object.keys(hostile))("is answered, with at most so many issues: %s", (name) => {
    const issues = check(hostile[name]!(sizes[name]!), expressionLanguage);
    expect(issues.length).toBeLessThanOrEqual(2 * defaultLimits.issues + 2);
  });

  it.each(Object.keys(hostile))("costs at most 2.2 times as much where it is twice as large, or ends in a limit: %s", (name) => {
    for (let size = Math.ceil(sizes[name]! / 64); size < sizes[name]!; size *= 2) {
      const [small, large] = [new WorkBudget(Number.POSITIVE_INFINITY), new WorkBudget(10_000_000)];
      checkCounted(hostile[name]!(size), expressionLanguage, defaultLimits, small);
      const issues = checkCounted(hostile[name]!(size * 2), expressionLanguage, defaultLimits, large);
      const isRefused = issues.some(({ severity, code }) => severity === "error" && code === "TOO_MANY");
      // the nodes that many branches of many loops can reach grow with the square of the size; the limit ends this after about 50 ms
      const isSmall = large.spent <= (name === "loops into each other" ? 10_000_000 : 1_000_000);
      expect(isRefused || isSmall || large.spent <= 2.2 * small.spent).toBe(true);
    }
  });

  it("is refused where it is too large as a whole", () => {
    expect(
      check({ ...one, description: "x".repeat(1_000_000), name: "x".repeat(1_000_000), version: "x".repeat(100_000) }, expressionLanguage),
    ).toEqual([expect.objectContaining({ code: "NOT_JSON", severity: "error", message: expect.stringContaining('"definitionBytes"') })]);
  });

  it("says of what it has too many, and how many it may have", () => {
    const few = { ...defaultLimits, nodes: 2, edges: 1, workflows: 1 };
    const inner = { ...one, workflows: { one, two: one } };
    const edge = { source: "n0", target: "n1" };
    const issues = check({ id: "w", nodes: named(3), edges: [edge, edge], workflows: { inner } }, expressionLanguage, few);
    expect(issues.filter(({ code }) => code === "TOO_MANY").map(({ pointer, message }) => [pointer, message])).toEqual([
      ["/nodes", "has 3 nodes; at most 2 are allowed"],
      ["/edges", "has 2 edges; at most 1 are allowed"],
      ["/workflows/inner/workflows", "has 2 workflows; at most 1 are allowed"],
    ]);
  });

  it("is told of the first hundred mistakes in one text, and is compared with known names as long as that is cheap", () => {
    const broken = check({ ...one, nodes: [{ id: "a", type: "set", data: "{{;}}".repeat(101) }] }, expressionLanguage);
    expect(broken.filter(({ code }) => code === "EXPRESSION_INVALID")).toHaveLength(100);
    const misnamed = check(hostile["nodes that name workflows which are not there"]!(100), expressionLanguage);
    expect(misnamed.find(({ code }) => code === "WORKFLOW_UNKNOWN")!.message).toContain("Did you mean");
    expect(misnamed.findLast(({ code }) => code === "WORKFLOW_UNKNOWN")!.message).not.toMatch(/Did you mean|Known:/);
  });

  it("ends in the limit's error wherever the work runs out, or is as with more, perhaps without a doubt that takes more work", () => {
    const meeting = {
      id: "w",
      nodes: [
        ...named(40),
        { id: "j", type: "noop", join: "all" },
        { id: "k", type: "noop", join: 2 },
        { id: "no", type: "noop", join: "each" },
      ],
      edges: range(39, (i) => [
        { source: "n0", target: `n${i + 1}` },
        { source: `n${i + 1}`, target: "j" },
        { source: `n${i + 1}`, target: "k" },
        { source: `n${i + 1}`, target: "no", sourceHandle: "no" },
      ]).flat(),
    };
    const whole = checkCounted(meeting, expressionLanguage, defaultLimits, new WorkBudget(Number.POSITIVE_INFINITY));
    expect(whole.map(({ code, message }) => `${code} ${message}`)).toEqual([
      expect.stringMatching(/^JOIN_UNHANDLED .* and 19 more\)/),
      expect.stringMatching(/^JOIN_LEFT .*through "n1" can leave by "no" to "no"/),
    ]);
    const ends = new Set<string>();
    for (let max = 0; max < 2_000; max += 3) {
      const issues = checkCounted(meeting, expressionLanguage, defaultLimits, new WorkBudget(max));
      const errors = issues.filter(({ severity }) => severity === "error");
      ends.add(errors.map(({ code, pointer }) => `${code} ${pointer}`).join());
      if (errors.length === 0) expect(whole).toEqual(expect.arrayContaining([...issues]));
    }
    expect([...ends]).toEqual(["TOO_MANY /edges", ""]);
  });

  it("still loads if it was accepted when limits were higher", () => {
    const large = { ...hostile["equal edges"]!(100), workflows: { one } };
    const lower = { ...defaultLimits, nodes: 1, edges: 1, workflows: 1, definitionBytes: 10 };
    expect(() => compile(large, expressionLanguage, lower)).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
    expect(compile(large, expressionLanguage, lower, { isStored: true }).nodes.size).toBe(2);
  });

  it("finds workflows that lie around another one, without copies of their names", () => {
    const inner = { ...one, id: "inner", nodes: [{ id: "a", type: "workflow", data: { workflow: "beside" } }] };
    const { workflows } = compile({ ...one, workflows: { inner, beside: one } }, expressionLanguage);
    const names = workflows.get("inner")!.workflows;
    expect([...names.keys()]).toEqual(["inner", "beside", "one"]);
    expect([...names.values()].map(({ definition }) => definition.id)).toEqual(["inner", "one", "one"]);
    expect(names.get("nowhere")).toBeUndefined();
  });
});
