import { describe, expect, it } from "vitest";
import { viaJson } from "../../test/engine/engine.fixture.ts";
import { bench, flow, outputOf, type Step } from "../../test/nodes/workflow.fixture.ts";

const calling = (
  inner: object,
  data: object = {},
  more: Readonly<Record<string, Step>> = {},
  edges: readonly string[] = [],
): ReturnType<typeof bench> =>
  bench(flow("w", { call: ["workflow", { workflow: "inner", ...data }], ...more }, edges, { workflows: { inner } }));
const asking = flow("inner", { ask: "approval", done: ["end", { output: "{{ input }}" }] }, ["ask>done@approved"]);

describe("workflow", () => {
  it("runs another workflow, and goes on with its output", async () => {
    const inner = flow("inner", { double: ["set", "{{ input.n * 2 }}"] });
    const { engine } = calling(inner, { input: { n: "{{ input.n }}" } }, { next: ["set", { got: "{{ $json }}" }] }, ["call>next"]);
    expect(await engine.execute({ input: { n: 21 } })).toMatchObject({
      status: "completed",
      output: { got: 42 },
      context: { call: [{ output: 42 }] },
    });
  });

  it("gives it nothing of this workflow but the input", async () => {
    const inner = flow(
      "inner",
      { look: ["set", { input: "{{ input ?? 'none' }}", nodes: "{{ nodes.secret?.last?.data ?? 'none' }}" }], secret: "noop" },
      ["look>secret"],
    );
    const { engine } = bench(
      flow("w", { secret: ["set", 7], call: ["workflow", { workflow: "inner" }] }, ["secret>call"], {
        workflows: { inner: { ...inner, output: "{{ nodes.look.last.data }}" } },
      }),
    );
    expect(outputOf(await engine.execute({ input: 1 }), "call")).toEqual({ input: "none", nodes: "none" });
  });

  it("waits where the other one does, and is answered there", async () => {
    const { engine } = calling(asking, { input: "{{ input }}" });
    const paused = await engine.execute({ input: 5 });
    expect(paused).toMatchObject({ status: "paused", currentNodeId: "call", childStates: { "0#1": { currentNodeId: "ask" } } });
    for (const target of ["ask", "call/ask", undefined]) {
      const ended = await engine.execute({ snapshot: viaJson(paused), target, externalPayload: { approved: true } });
      expect(ended).toMatchObject({ status: "completed", output: 5 });
      expect(ended).not.toHaveProperty("childStates");
    }
  });

  it("hears signals, those that came before too", async () => {
    const inner = flow("inner", { go: ["signal", { name: "go" }] });
    const { engine } = bench(
      flow("w", { gate: "approval", call: ["workflow", { workflow: "inner" }] }, ["gate>call@approved"], { workflows: { inner } }),
    );
    const early = await engine.send(await engine.execute({}), { type: "signal", name: "go", payload: "early" });
    expect(await engine.execute({ snapshot: early, externalPayload: { approved: true } })).toMatchObject({
      status: "completed",
      output: "early",
    });
  });

  it("fails as the other one failed, or goes on by error", async () => {
    const inner = flow("inner", { stop: ["fail", { message: "no stock", code: "OUT" }] });
    expect(await calling(inner).engine.execute({})).toMatchObject({
      status: "failed",
      error: { code: "OUT", message: "no stock", nodeId: "call" },
    });
    const handled = await calling(inner, {}, { mend: ["set", { why: "{{ $json.code }}" }] }, ["call>mend@error"]).engine.execute({});
    expect(handled).toMatchObject({ status: "completed", output: { why: "OUT" } });
  });

  it("ends with the execution", async () => {
    const { engine } = calling(asking);
    const cancelled = await engine.send(await engine.execute({}), { type: "cancel" });
    expect(cancelled).toMatchObject({ status: "cancelled", activePaths: [] });
    expect(cancelled).not.toHaveProperty("childStates");
  });

  it("runs workflows inside workflows, by the names around them", async () => {
    const leaf = flow("leaf", { ask: "approval", done: ["end", { output: "{{ input + '!' }}" }] }, ["ask>done@approved"]);
    const middle = flow("middle", { call: ["workflow", { workflow: "leaf", input: "{{ input + '?' }}" }] });
    const { engine } = bench(flow("w", { call: ["workflow", { workflow: "middle", input: "a" }] }, [], { workflows: { leaf, middle } }));
    const paused = await engine.execute({});
    expect(Object.keys(paused.childStates ?? {})).toEqual(["0#1", "0#1>0#1"]);
    expect(await engine.execute({ snapshot: viaJson(paused), target: "call/call/ask", externalPayload: { approved: true } })).toMatchObject(
      { output: "a?!" },
    );
  });

  const recursive = (depth: number): object =>
    flow(
      "w",
      {
        more: ["if", { condition: `{{ (input ?? 0) < ${depth} }}` }],
        again: ["workflow", { workflow: "w", input: "{{ (input ?? 0) + 1 }}" }],
        leaf: ["set", "{{ input ?? 0 }}"],
      },
      ["more>again@true", "more>leaf@false"],
    );

  it("may run itself, as deep as the limit", async () => {
    expect(await bench(recursive(5)).engine.execute({})).toMatchObject({ status: "completed", output: 5 });
    expect(await bench(recursive(3), { nesting: 3 }).engine.execute({})).toMatchObject({ status: "completed", output: 3 });
    for (const { engine } of [bench(recursive(4), { nesting: 3 }), bench(recursive(1_000_000))])
      expect(await engine.execute({})).toMatchObject({ status: "failed", error: { code: "LIMIT_EXCEEDED" } });
  });

  it("checks the input that the other one asks for", async () => {
    const inner = flow("inner", { a: "noop" }, [], { input: { type: "object", required: ["n"] } });
    for (const data of [{}, { input: null }, { input: {} }])
      expect(await calling(inner, data).engine.execute({})).toMatchObject({ status: "failed", error: { code: "INPUT_INVALID" } });
    expect(await calling(inner, { input: { n: 1 } }).engine.execute({})).toMatchObject({ status: "completed" });
  });

  it.each(["missing", "constructor", "__proto__", "toString"])("fails with the workflow %s out of an expression", async (name) => {
    const { engine } = calling(asking, { workflow: "{{ input }}" });
    expect(await engine.execute({ input: name })).toMatchObject({ status: "failed", error: { code: "DEFINITION_UNKNOWN" } });
    expect(await engine.execute({ input: { name } })).toMatchObject({ status: "failed", error: { code: "DATA_INVALID" } });
  });

  it("is refused before it runs where it names no workflow", () => {
    expect(() => calling(asking, { workflow: "iner" })).toThrow(/inner/);
  });
});
