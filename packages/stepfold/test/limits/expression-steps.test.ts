import { describe, expect, it } from "vitest";
import { check, compile } from "../../src/core/definition/compile/compile.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { defaultLimits } from "../../src/core/values/limits.ts";
import { expressionLanguage } from "../../src/expressions/expression-language.ts";
import { loadFunctions } from "../../src/expressions/load-functions.ts";
import { defineNode, type WorkflowDefinition, WorkflowEngine } from "../../src/index.ts";
import { createRuntime } from "../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";

// BUGS 15, USE 16: expressions ended at 10,000 items, in no page and not to be raised. A23: reading a definition of 2 MB took seconds.

await loadFunctions();

const rows = (count: number): { amount: number; open: boolean }[] =>
  Array.from({ length: count }, (_, i) => ({ amount: i, open: i % 2 === 0 }));
const report = "{{ input.rows.filter(row => row.open).map(row => ({ amount: row.amount * 2 })).map(row => row.amount).sum() }}";
const noop = defineNode({ executor: (data) => ({ data: data ?? null }) });
const workflow = (data: string, more: Partial<WorkflowDefinition> = {}): WorkflowDefinition => ({
  id: "report",
  nodes: [{ id: "sum", type: "keep", data }],
  edges: [],
  ...more,
});
const limits = { keys: 1_000_000, valueBytes: 64 * 1024 * 1024 };

async function run(
  definition: WorkflowDefinition,
  input: object,
  own: object = {},
): Promise<{ output: unknown; error: string | undefined }> {
  const engine = new WorkflowEngine({ workflow: definition, nodeDefinitions: { keep: noop }, limits: { ...limits, ...own } });
  const snapshot = await engine.execute({ workflowId: "r-1", input: input as never });
  return { output: snapshot.context.sum?.at(-1)?.output, error: snapshot.error?.code };
}

describe("the steps of expressions", () => {
  it("are enough by default to filter, map and sum 50,000 rows", async () => {
    expect(await run(workflow(report), { rows: rows(50_000) })).toEqual({ output: 1_249_950_000, error: undefined });
  });

  it("are a limit that can be raised, and the error names it", async () => {
    const many = { rows: rows(200_000) };
    expect(await run(workflow(report), many)).toMatchObject({ error: "EXPRESSION_BUDGET" });
    expect(await run(workflow(report), many, { expressionSteps: 2_000_000 })).toEqual({ output: 19_999_800_000, error: undefined });
    expect(new StepfoldError("EXPRESSION_BUDGET", { source: "x", limit: "steps", max: 5 }).message).toContain(
      'raise the limit "expressionSteps"',
    );
  });

  it("hold wherever a definition has an expression, also in stored definitions and in the retry policies of types", async () => {
    const heavy = "input.rows.map(row => row).length > 0";
    const few = { expressionSteps: 100 };
    const input = { rows: rows(200) };
    const failing = defineNode({ executor: () => Promise.reject(new Error("no")) });
    const everywhere: Partial<WorkflowDefinition>[] = [
      { timeout: `{{ ${heavy} ? "1h" : "2h" }}` },
      { nodes: [{ id: "sum", type: "keep", when: heavy }] },
      { nodes: [{ id: "sum", type: "keep", timeout: `{{ ${heavy} ? "1h" : "2h" }}` }] },
      { output: `{{ ${heavy} }}` },
      { concurrency: { key: `{{ ${heavy} }}` } },
    ];
    for (const more of everywhere) {
      const definition = workflow("x", more);
      const runtime = createRuntime({ store: memoryStore(), workflows: [definition], nodeDefinitions: { keep: noop }, limits: few });
      const ended = await runtime
        .start("report", { input })
        .then((started) => started.result())
        .then(
          () => "completed",
          (error: Error) => error.message,
        );
      expect(ended, JSON.stringify(more)).toContain("more than its budget of 100 steps");
      await runtime.close();
    }
    const retryPolicy = { maxAttempts: 3, interval: 0, backoff: "fixed", retryIf: heavy } as const;
    const definition: WorkflowDefinition = { id: "w", nodes: [{ id: "a", type: "failing" }], edges: [] };
    const engine = new WorkflowEngine({ workflow: definition, nodeDefinitions: { failing: { ...failing, retryPolicy } }, limits: few });
    const ended = await engine.execute({ workflowId: "w-1", input: input as never });
    expect(ended.error).toMatchObject({ message: expect.stringContaining("100 steps") });
  });

  it.each([-1, Number.NaN, "many"])("are refused as %s", (expressionSteps) => {
    expect(
      () => new WorkflowEngine({ workflow: workflow("x"), nodeDefinitions: { keep: noop }, limits: { expressionSteps } as never }),
    ).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});

describe("reading the expressions of a definition", () => {
  const listed = (count: number, text: string): WorkflowDefinition => ({
    id: "w",
    nodes: [{ id: "a", type: "keep", data: Array.from({ length: count }, () => text) }],
    edges: [],
  });
  const mistakes = (definition: unknown): string[] =>
    check(definition, expressionLanguage).map(({ code, pointer }) => `${code} ${pointer}`);

  it("ends after 500,000 parts", () => {
    expect(mistakes(listed(40_000, "{{ input.a.b }}"))).toEqual([]);
    expect(mistakes(listed(90_000, "{{ input.a.b }}"))).toEqual(["TOO_MANY "]);
    const spread = {
      id: "w",
      nodes: Array.from({ length: 4_500 }, (_, i) => ({ id: `n${i}`, type: "keep", data: Array(20).fill("{{ input.a.b }}") })),
      edges: [],
    };
    expect(mistakes(spread).filter((mistake) => !mistake.startsWith("START_UNKNOWN"))).toEqual(["TOO_MANY "]);
  });

  it("does not refuse what was accepted before", () => {
    expect(compile(listed(90_000, "{{ input.a.b }}"), expressionLanguage, defaultLimits, { isStored: true }).nodes.size).toBe(1);
  });

  it("ends after as many mistakes as are listed", () => {
    let read = 0;
    const counting: typeof expressionLanguage = {
      ...expressionLanguage,
      compileTemplate: (value, pointer, names, bounds) =>
        expressionLanguage.compileTemplate(value, pointer, names, {
          ...bounds!,
          read: (parts) => {
            read++;
            return bounds!.read(parts);
          },
        }),
    };
    const wrong = listed(50_000, "{{ foo.bar }}");
    const inBoth = { ...wrong, nodes: [...wrong.nodes, { ...wrong.nodes[0], id: "b" }] };
    const issues = check(inBoth, counting);
    expect(issues.filter(({ code }) => code === "EXPRESSION_INVALID")).toHaveLength(100);
    expect(issues.filter(({ code }) => code === "TOO_MANY")).toHaveLength(1);
    expect(read).toBeLessThan(110);
  });
});
