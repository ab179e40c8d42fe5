import { describe, expect, it } from "vitest";
import type { Edge, Node, WorkflowDefinition } from "../../../src/core/definition/definition.ts";
import type { NodeDefinition } from "../../../src/engine/node/node-definition.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { viaJson } from "../engine.fixture.ts";
import { VirtualEnvironment } from "../virtual-environment.fixture.ts";

/** A node that returns its data as the whole result of its executor. */
const raw: NodeDefinition = { executor: (data) => data as never };
/** A node that waits for an answer, and then outputs the variables that its code reads. */
const read: NodeDefinition = {
  executor: (_data, step) => (step.resumed ? { data: { vars: step.vars } } : { __pause: true }),
};
const tries: NodeDefinition = {
  retryPolicy: { maxAttempts: 3, interval: 1_000, backoff: "fixed" },
  executor(data, { attempt }) {
    if (attempt < 3) throw new Error(`attempt ${attempt}`);
    return { data };
  },
};

const edgesOf = (ways: string): Edge[] =>
  ways
    .split(" ")
    .filter(Boolean)
    .map((way) => {
      const [, source, target, sourceHandle] = /^(\w+)>(\w+)(?:@(\w+))?$/.exec(way)!;
      return sourceHandle === undefined ? { source: source!, target: target! } : { source: source!, target: target!, sourceHandle };
    });
const set = (id: string, vars: object, data: object = {}): Node => ({ id, type: "set", data: { vars, ...data } as never });
const flow = (nodes: readonly Node[], ways: string, more: Partial<WorkflowDefinition> = {}): WorkflowDefinition => ({
  ...{ id: "flow", nodes, edges: edgesOf(ways) },
  ...more,
});
const engineOf = (workflow: WorkflowDefinition, limits: object = {}) => {
  const clock = new VirtualEnvironment();
  return {
    clock,
    engine: new WorkflowEngine({ workflow, nodeDefinitions: { ...builtinNodes, raw, read, tries }, environment: clock, limits }),
  };
};
const run = async (workflow: WorkflowDefinition, input?: unknown) => engineOf(workflow).engine.execute({ input });
const valuesOf = (variables: object = {}): unknown =>
  Object.fromEntries(Object.entries(variables).map(([name, values]) => [name, values.map(({ value }: { value: unknown }) => value)]));

describe("a variable", () => {
  it("is set by one step and read by those that follow", async () => {
    const nodes = [
      set("a", { name: "{{ input.name }}", n: 1 }),
      set("b", { n: "{{ vars.n + 1 }}" }),
      { id: "c", type: "set", data: "{{ vars.name + vars.n }}" },
    ];
    const { output, variables, context } = await run(flow(nodes, "a>b b>c"), { name: "Ada" });
    expect(output).toBe("Ada2");
    expect(variables).toEqual({ name: [{ value: "Ada", version: 1 }], n: [{ value: 2, version: 2 }] });
    // a node that only sets variables outputs the data that came in
    expect(context.a![0]!.output).toEqual({ name: "Ada" });
  });

  it("counts the rounds of a loop, and is set back", async () => {
    const nodes = [
      set("again", { round: "{{ vars.round + 1 }}", sum: "{{ vars.round }}" }, { told: "{{ vars.round }}" }),
      { id: "enough", type: "if", data: { condition: "{{ vars.round >= 3 }}" } },
      set("reset", { round: 0 }),
    ];
    const variables = { round: { initial: 0 }, sum: { reducer: "add" } };
    const done = await run(
      flow(nodes, "again>enough enough>again@false enough>reset@true", { start: "again", variables, output: "{{ vars }}" }),
    );
    expect(done.output).toEqual({ round: 0, sum: 3 });
    expect(done.context.again!.map(({ output }) => output)).toEqual([{ told: 0 }, { told: 1 }, { told: 2 }]);
  });

  it("can be anything: the word of n8n reads it too", async () => {
    const nodes = [
      set("a", { "odd-name": { list: [1, null, "x"] }, none: null }),
      { id: "b", type: "set", data: ["{{ $vars['odd-name'].list }}", "{{ $vars.none }}"] },
    ];
    expect((await run(flow(nodes, "a>b"))).output).toEqual([[1, null, "x"], null]);
  });

  it("is left as it is by an expression that gives undefined", async () => {
    const nodes = [set("a", { x: 1 }), set("b", { x: "{{ input?.missing }}" })];
    expect((await run(flow(nodes, "a>b", { output: "{{ vars.x }}" }))).output).toBe(1);
  });

  it("is what a step sees of it in code, and what an output sets", async () => {
    const nodes = [
      { id: "a", type: "raw", data: { data: null, vars: { x: 1 } } },
      { id: "b", type: "read" },
    ];
    const { engine } = engineOf(flow(nodes, "a>b"));
    const paused = await engine.execute({});
    const { output } = await engine.execute({ snapshot: viaJson(paused), externalPayload: 1 });
    expect(output).toEqual({ vars: { x: 1 } });
  });
});

describe("a reducer", () => {
  it.each<[string, unknown, unknown[], unknown]>([
    ["set", undefined, [1, "x"], "x"],
    ["add", undefined, [2, 3.5], 5.5],
    ["add", 10, [2], 12],
    ["append", undefined, [1, [2]], [1, [2]]],
    ["append", ["a"], ["b"], ["a", "b"]],
    ["merge", { a: 1, b: 1 }, [{ b: 2 }, { c: null }], { a: 1, b: 2, c: null }],
    ["merge", undefined, [{ b: 2 }], { b: 2 }],
    ["max", undefined, [3, 7, 5], 7],
    ["max", "2026-01-01", ["2025-01-01"], "2026-01-01"],
    ["{{ (current ?? []).concat(value) }}", undefined, [[1], [2, 3]], [1, 2, 3]],
    ["{{ current * value }}", 2, [3, 4], 24],
  ])("%s of %j and then %j gives %j", async (reducer, initial, values, expected) => {
    const variables = { x: { reducer, ...(initial !== undefined && { initial }) } } as WorkflowDefinition["variables"];
    const nodes = values.map((value, index) => set(`n${index}`, { x: value }));
    const ways = nodes.slice(1).map((_, index) => `n${index}>n${index + 1}`);
    expect((await run(flow(nodes, ways.join(" "), { variables: variables!, output: "{{ vars.x }}" }))).output).toEqual(expected);
  });

  it.each<[string, unknown, unknown, string]>([
    ["add", undefined, "x", "text cannot be added to 0"],
    ["add", undefined, true, "true cannot be added to 0"],
    ["add", 1e308, 1e308, "1e+308 cannot be added to 1e+308"],
    ["merge", undefined, [], "a list cannot be merged into an object"],
    ["max", 1, "x", "text cannot be compared with 1"],
    ["max", undefined, {}, "an object cannot be compared with null"],
    ["{{ undefined }}", 1, 2, "its reducer returns nothing"],
  ])("%s of %j refuses %j, and so the step fails", async (reducer, initial, value, reason) => {
    const variables = { x: { reducer, ...(initial !== undefined && { initial }) } } as WorkflowDefinition["variables"];
    const { status, error, variables: held } = await run(flow([set("a", { x: value })], "", { variables: variables! }));
    expect([status, error]).toMatchObject(["failed", { code: "VARIABLE_INVALID", nodeId: "a", message: expect.stringContaining(reason) }]);
    expect(held).toBeUndefined();
  });

  it("that refuses is a failure like others: an edge takes it, or it waits for a decision, and nothing is set", async () => {
    const variables = { x: { reducer: "append" }, list: { initial: [], reducer: "append" } };
    const nodes = [
      set("a", { x: 1 }),
      set("b", { y: 2, x: 3 }),
      { id: "c", type: "set", data: ["{{ $json.code }}", "{{ vars.y }}", "{{ vars.x }}"] },
    ];
    // the snapshot holds a text in x, as if an earlier definition had set it; nothing can be appended to a text
    const { engine } = engineOf(flow(nodes, "a>b b>c@error", { variables }));
    const before = await engine.execute({ stepLimit: 1 });
    const changed = { ...before, variables: { x: [{ value: "text", version: 1 }] } };
    expect((await engine.execute({ snapshot: changed })).output).toEqual(["VARIABLE_INVALID", null, "text"]);
    const waiting = engineOf(flow(nodes.slice(0, 2), "a>b", { variables, incident: true }));
    const first = await waiting.engine.execute({ stepLimit: 1 });
    const incident = await waiting.engine.execute({ snapshot: { ...first, variables: { x: [{ value: 5, version: 1 }] } } });
    expect(incident.activePaths[0]!.waits).toMatchObject([{ kind: "incident", payload: { error: { code: "VARIABLE_INVALID" } } }]);
  });

  it("works on what the step before it has made, however late its own step began", async () => {
    const nodes = [
      { id: "f", type: "noop" },
      set("a", { n: 1 }),
      set("b", { n: 1 }),
      set("c", { n: 1 }),
      { id: "all", type: "set", join: "all" as const, data: "{{ vars.n }}" },
    ];
    expect((await run(flow(nodes, "f>a f>b f>c a>all b>all c>all", { variables: { n: { reducer: "add" } } }))).output).toBe(3);
  });
});

describe("branches", () => {
  it("that set one variable: the later version counts, and nothing happens at the join", async () => {
    const nodes = [
      { id: "f", type: "noop" },
      { id: "slow", type: "read" },
      set("late", { x: "late" }),
      set("early", { x: "early" }),
      { id: "all", type: "set", join: "all" as const, data: "{{ vars.x }}" },
    ];
    const { engine } = engineOf(flow(nodes, "f>slow slow>late f>early late>all early>all"));
    const paused = await engine.execute({});
    expect(valuesOf(paused.variables)).toEqual({ x: ["early"] });
    expect((await engine.execute({ snapshot: paused, externalPayload: 1 })).output).toBe("late");
  });

  it("read a variable as it was when they came, at every attempt, and it is let go when nobody can read it any more", async () => {
    const nodes = [
      set("first", { x: "first" }),
      { id: "slow", type: "tries", data: "{{ vars.x }}" },
      set("other", { x: "x".repeat(500) }),
      { id: "after", type: "set", data: "{{ vars.x }}" },
    ];
    const { engine, clock } = engineOf(flow(nodes, "first>slow first>other slow>after"));
    let snapshot = await engine.execute({});
    expect(valuesOf(snapshot.variables)).toEqual({ x: ["first", "x".repeat(500)] });
    const before = snapshot.sizeBytes;
    for (let attempt = 2; attempt <= 3; attempt++) {
      clock.set(clock.now() + 1_000);
      snapshot = await engine.execute({ snapshot: viaJson(snapshot) });
    }
    expect(snapshot.context.slow!.at(-1)!.output).toBe("first");
    expect(snapshot.output).toBe("x".repeat(500));
    expect(valuesOf(snapshot.variables)).toEqual({ x: ["x".repeat(500)] });
    expect(snapshot.sizeBytes).toBeLessThan(before + 1_200);
  });

  it("hold no more after a thousand rounds than after one", async () => {
    const nodes = [
      { ...set("again", { n: "{{ vars.n + 1 }}", text: "{{ 'x'.repeat(100) + vars.n }}" }), keep: 1 },
      { id: "enough", type: "if", keep: 1, data: { condition: "{{ vars.n >= 1000 }}" } },
    ];
    const variables = { n: { initial: 0 } };
    const { engine } = engineOf(flow(nodes, "again>enough enough>again@false", { start: "again", variables }));
    const early = await engine.execute({ stepLimit: 10 });
    const late = await engine.execute({ snapshot: early });
    expect(late.variables!.n).toEqual([{ value: 1_000, version: 1_999 }]);
    expect(late.sizeBytes).toBeLessThan(early.sizeBytes + 30);
  });
});

describe("a scope", () => {
  const item = flow(
    [
      { id: "i", type: "set", data: { vars: { total: "{{ item }}", own: "{{ vars.base }}" } } },
      { id: "o", type: "set", data: ["{{ vars.total }}", "{{ vars.base }}", "{{ vars.own }}"] },
    ],
    "i>o",
    {
      id: "item",
      variables: { total: { reducer: "add" } },
    },
  );

  it("reads those around it as of its beginning, and what it sets stays in it", async () => {
    const nodes = [
      set("a", { base: "b", total: 100 }),
      { id: "each", type: "map", data: { workflow: "item", items: [1, 2], concurrency: 1 } },
      { id: "end", type: "set", data: ["{{ $json }}", "{{ vars.total }}"] },
    ];
    const { output, variables } = await run(flow(nodes, "a>each each>end", { workflows: { item } }));
    expect(output).toEqual([
      [
        [101, "b", "b"],
        [102, "b", "b"],
      ],
      100,
    ]);
    expect(Object.keys(variables!)).toEqual(["base", "total"]);
  });

  it("does not see what is set around it meanwhile, also in an item that begins later", async () => {
    const ask = flow([{ id: "r", type: "read" }], "", { id: "ask" });
    const nodes = [
      set("a", { x: "before" }),
      { id: "each", type: "map", data: { workflow: "ask", items: [1, 2], concurrency: 1 } },
      set("b", { x: "after" }),
      { id: "end", type: "set", data: "{{ [$json[0].vars.x, $json[1].vars.x, vars.x] }}" },
    ];
    const { engine } = engineOf(flow(nodes, "a>each a>b each>end", { workflows: { ask } }));
    let snapshot = await engine.execute({});
    expect(valuesOf(snapshot.variables)).toEqual({ x: ["before", "after"] });
    while (snapshot.status === "paused") {
      const [wait] = Object.entries(snapshot.childStates!).flatMap(([, { activePaths }]) => activePaths.flatMap(({ waits = [] }) => waits));
      snapshot = await engine.execute({ snapshot: viaJson(snapshot), target: wait!.id, externalPayload: 1 });
    }
    expect(snapshot.output).toEqual(["before", "before", "after"]);
    expect(valuesOf(snapshot.variables)).toEqual({ x: ["after"] });
  });

  it("with an initial value of its own begins with that", async () => {
    const inner = flow([set("i", { n: 1 })], "", { id: "inner", variables: { n: { initial: 5, reducer: "add" } }, output: "{{ vars.n }}" });
    const nodes = [set("a", { n: 100 }), { id: "sub", type: "workflow", data: { workflow: "inner" } }];
    expect((await run(flow(nodes, "a>sub", { workflows: { inner } }))).output).toBe(6);
  });

  it("lets go of its variables when it ends", async () => {
    const ask = flow([set("big", { text: "{{ 'x'.repeat(10000) }}" }), { id: "r", type: "approval", data: {} }], "big>r", {
      id: "ask",
    });
    const { engine } = engineOf(flow([{ id: "sub", type: "workflow", data: { workflow: "ask" } }], "", { workflows: { ask } }));
    const paused = await engine.execute({});
    expect(paused.sizeBytes).toBeGreaterThan(10_000);
    expect((await engine.execute({ snapshot: viaJson(paused), externalPayload: { approved: true } })).sizeBytes).toBeLessThan(500);
  });

  it("lets go of older values too when it is cancelled with what stands in it", async () => {
    const inner = flow([set("a", { x: "{{ 'x'.repeat(1000) }}" }), { id: "r", type: "read" }, set("b", { x: 2 })], "a>r a>b", {
      id: "inner",
    });
    const nodes = [
      { id: "f", type: "noop" },
      { id: "sub", type: "workflow", data: { workflow: "inner" } },
      { id: "ask", type: "read" },
      { id: "stop", type: "noop", cancels: ["sub"] },
    ];
    const { engine } = engineOf(flow(nodes, "f>sub f>ask ask>stop", { workflows: { inner } }));
    const paused = await engine.execute({});
    expect(valuesOf(Object.values(paused.childStates!)[0]!.variables)).toEqual({ x: ["x".repeat(1_000), 2] });
    const done = await engine.execute({ snapshot: paused, target: { node: "ask" } as never, externalPayload: 1 });
    expect([done.status, done.childStates]).toEqual(["completed", undefined]);
    expect(done.sizeBytes).toBeLessThan(500);
  });

  it("whose steps are undone later has its variables then", async () => {
    const undone: unknown[] = [];
    const pay: NodeDefinition = { executor: () => ({ data: null, vars: { paid: 7 } }) };
    const refund: NodeDefinition = { executor: (data, { vars }) => ({ data: undone.push([data, vars]) }) };
    const broken: NodeDefinition = {
      executor() {
        throw new Error("broken");
      },
    };
    const inner = flow([{ id: "pay", type: "pay", compensate: { type: "refund", data: "{{ vars.paid }}" } }], "", { id: "inner" });
    const nodes = [
      set("a", { outer: 1 }),
      { id: "sub", type: "workflow", data: { workflow: "inner" } },
      set("b", { outer: 2 }),
      { id: "end", type: "broken" },
    ];
    const workflow = flow(nodes, "a>sub sub>b b>end", { workflows: { inner } });
    const engine = new WorkflowEngine({ workflow, nodeDefinitions: { ...builtinNodes, pay, refund, broken } });
    expect((await engine.execute({})).status).toBe("failed");
    expect(undone).toEqual([[7, { outer: 2, paid: 7 }]]);
  });
});

describe("conditions", () => {
  it("read variables as they are: when, completeWhen and the output of the workflow", async () => {
    const nodes = [
      { id: "f", type: "noop" },
      { id: "ask", type: "read" },
      set("go", { open: true }),
      { id: "held", type: "set", when: "vars.open", data: "went" },
      { id: "each", type: "map", data: { workflow: "item", items: [1, 2, 3], concurrency: 1, completeWhen: "{{ done >= vars.wanted }}" } },
    ];
    const item = flow([{ id: "i", type: "set", data: "{{ item }}" }], "", { id: "item" });
    const { engine } = engineOf(
      flow(nodes, "f>ask ask>go f>held f>each", { workflows: { item }, variables: { open: { initial: false }, wanted: { initial: 2 } } }),
    );
    const paused = await engine.execute({});
    expect(paused.context.held).toBeUndefined();
    expect(paused.context.each![0]!.output).toEqual([1, 2, null]);
    expect((await engine.execute({ snapshot: paused, externalPayload: 1 })).context.held![0]!.output).toBe("went");
  });
});

describe("what an executor cannot do", () => {
  it.each<[object, string]>([
    [{ data: 1, vars: [] }, "/vars"],
    [{ data: 1, vars: null }, "/vars"],
    [{ data: 1, vars: { "a b": 1 } }, "/vars/a b"],
    [{ data: 1, vars: { constructor: 1 } }, "/vars/constructor"],
    [{ __pause: true, vars: { x: 1 } }, "/vars"],
    [{ __children: { workflow: "x" }, vars: { x: 1 } }, "/vars"],
  ])("is to return %j", async (output, pointer) => {
    const { status, error } = await run(flow([{ id: "a", type: "raw", data: output as never }], ""));
    expect([status, error]).toMatchObject(["failed", { code: "OUTPUT_INVALID", message: expect.stringContaining(pointer) }]);
  });

  it("is to set variables while it undoes a step", async () => {
    const nodes = [
      { id: "a", type: "noop", compensate: { type: "raw", data: { data: 1, vars: { x: 1 } } } },
      { id: "b", type: "fail", data: { message: "no" } },
    ];
    const { compensations } = await run(flow(nodes, "a>b"));
    expect(compensations).toMatchObject([{ nodeId: "a", error: expect.stringContaining("/vars") }]);
  });

  it("is to have more of them, or more in them, than the limits say", async () => {
    const two = flow([set("a", { x: 1, y: 2 }), set("b", { x: 2 }), set("c", { z: 1 })], "a>b b>c");
    const many = await engineOf(two, { variables: 2 }).engine.execute({});
    expect(many.error).toMatchObject({ nodeId: "c", message: expect.stringContaining('"variables": 3, at most 2') });
    const large = flow([set("a", { x: "{{ 'x'.repeat(1000) }}" }), set("b", { x: "{{ 'x'.repeat(1000) }}" })], "a>b", {
      variables: { x: { reducer: "append" } },
    });
    const limited = await engineOf(large, { valueBytes: 1_500 }).engine.execute({});
    expect(limited.error).toMatchObject({
      nodeId: "b",
      message: expect.stringContaining('The variable "x" exceeds the limit "valueBytes"'),
    });
    const whole = await engineOf(large, { executionBytes: 1_900 }).engine.execute({});
    expect(whole.error).toMatchObject({ nodeId: "b", message: expect.stringContaining('"executionBytes"') });
  });
});
