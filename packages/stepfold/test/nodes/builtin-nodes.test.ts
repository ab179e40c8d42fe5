import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import type { Json } from "../../src/core/values/json.ts";
import type { NodeDefinition } from "../../src/engine/node/node-definition.ts";
import { checkWorkflow } from "../../src/engine/workflow/prepared-workflow.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";

type Line = { readonly id: string; readonly type: string; readonly data?: Json };

const inLine = (...nodes: readonly Line[]): object => ({
  id: "line",
  nodes,
  edges: nodes.slice(1).map(({ id }, i) => ({ source: nodes[i]!.id, target: id })),
});
const run = (workflow: object, input?: unknown): Promise<Snapshot> =>
  new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes }).execute({ input });
/** The workflows that the examples name. */
const workflows = Object.fromEntries(["invoice", "ask-supplier"].map((id) => [id, { id, nodes: [{ id: "b", type: "noop" }], edges: [] }]));
const mistakes = (type: string, data?: Json): string[] =>
  checkWorkflow({ id: "w", nodes: [{ id: "a", type, ...(data === undefined ? {} : { data }) }], edges: [], workflows }, builtinNodes).map(
    ({ pointer, message }) => `${pointer}: ${message}`,
  );

describe("set", () => {
  it("gives its data, with every expression resolved to its own type", async () => {
    const { output } = await run(inLine({ id: "a", type: "set", data: { total: "{{ input.price * 2 }}", note: "for {{ input.who }}" } }), {
      price: 21,
      who: "Ada",
    });
    expect(output).toEqual({ total: 42, note: "for Ada" });
  });

  it.each<[Json]>([[null], [0], [""], [false], [[1, [2]]], [{ a: { b: [] } }]])("gives %j as it is", async (data) => {
    expect((await run(inLine({ id: "a", type: "set", data }))).output).toEqual(data);
  });

  it("gives null without data", async () => {
    expect((await run(inLine({ id: "a", type: "set" }))).output).toBeNull();
  });
});

describe("noop", () => {
  it("gives null, or its data if it has any", async () => {
    const snapshot = await run(inLine({ id: "a", type: "noop" }, { id: "b", type: "noop", data: 7 }));
    expect([snapshot.context.a?.[0]?.output, snapshot.output]).toEqual([null, 7]);
  });
});

describe("fail", () => {
  const data = { message: "No stock of {{ input.item }}", code: "OUT_OF_STOCK" };

  it("fails the execution with its message and code", async () => {
    const snapshot = await run(inLine({ id: "a", type: "fail", data }), { item: "tea" });
    expect(snapshot).toMatchObject({ status: "failed", error: { message: "No stock of tea", code: "OUT_OF_STOCK", nodeId: "a" } });
  });

  it("is never retried", async () => {
    const retryPolicy = { maxAttempts: 5, interval: 1, backoff: "fixed" };
    const snapshot = await run({ id: "w", nodes: [{ id: "a", type: "fail", data: { message: "no" }, retryPolicy }], edges: [] });
    expect(snapshot).toMatchObject({ status: "failed", error: { name: "FatalError", message: "no" } });
    expect(snapshot.error).not.toHaveProperty("code");
  });

  it("goes on by an edge named error", async () => {
    const nodes = [
      { id: "a", type: "fail", data: { message: "no" } },
      { id: "b", type: "end", data: { output: "handled" } },
    ];
    const snapshot = await run({ id: "w", nodes, edges: [{ source: "a", target: "b", sourceHandle: "error" }] });
    expect(snapshot).toMatchObject({ status: "completed", output: "handled" });
  });
});

describe("builtinNodes", () => {
  it.each<[string, Json | undefined, string]>([
    ["if", undefined, "/nodes/0/data"],
    ["if", { conditon: true }, "/nodes/0/data/conditon"],
    ["if", ["{}"], "/nodes/0/data"],
    ["switch", { value: 1 }, "cases"],
    ["switch", { value: 1, cases: {} }, "/nodes/0/data/cases"],
    ["switch", { value: 1, cases: [{ equals: 1 }] }, "handle"],
    ["switch", { value: 1, cases: [{ equals: 1, handle: "" }] }, "/nodes/0/data/cases/0/handle"],
    ["switch", { value: 1, cases: [{ equals: 1, handle: { toString: "x" } }] }, "/nodes/0/data/cases/0/handle"],
    ["switch", { value: 1, cases: [{ handle: "x" }] }, "/nodes/0/data/cases/0"],
    ["switch", { value: 1, cases: [{ equals: 1, when: true, handle: "x" }] }, "/nodes/0/data/cases/0"],
    ["switch", { cases: [{ when: "input.total > 100", handle: "x" }] }, "/nodes/0/data/cases/0/when"],
    ["switch", { cases: [], every: "yes" }, "/nodes/0/data/every"],
    ["wait", {}, "/nodes/0/data"],
    ["wait", { for: "1s", until: 1 }, "/nodes/0/data"],
    ["wait", { for: null }, "/nodes/0/data/for"],
    ["wait", { fro: "1s" }, "/nodes/0/data/fro"],
    ["approval", { approvers: "ada" }, "/nodes/0/data/approvers"],
    ["approval", { schema: { required: "amount" } }, "/nodes/0/data/schema/required"],
    ["approval", { schema: { type: "string" } }, "/nodes/0/data/schema/type"],
    ["approval", { timout: "1d" }, "/nodes/0/data/timout"],
    ["approval", { responders: [] }, "/nodes/0/data/responders"],
    ["approval", { responders: ["ada", 7] }, "/nodes/0/data/responders/1"],
    ["approval", { quorum: 0 }, "/nodes/0/data/quorum"],
    ["approval", { quorum: "2" }, "/nodes/0/data/quorum"],
    ["end", "done", "/nodes/0/data"],
    ["end", { receipt: 7 }, "/nodes/0/data/receipt"],
    ["end", { terminate: "yes" }, "/nodes/0/data/terminate"],
    ["signal", undefined, "/nodes/0/data"],
    ["signal", {}, "name"],
    ["signal", { name: "" }, "/nodes/0/data/name"],
    ["signal", { name: "go", key: 7 }, "/nodes/0/data/key"],
    ["signal", { name: "go", schema: "number" }, "/nodes/0/data/schema"],
    ["race", { signals: [{ name: "a" }] }, "/nodes/0/data"],
    ["race", { timer: { for: "1m" } }, "/nodes/0/data"],
    ["race", { signals: [], answer: {} }, "/nodes/0/data"],
    ["race", { answer: {}, timer: {} }, "/nodes/0/data/timer"],
    ["race", { answer: {}, timer: { for: "1m", until: 5 } }, "/nodes/0/data/timer"],
    ["race", { signals: [{ name: "a" }, { nam: "b" }] }, "/nodes/0/data/signals/1"],
    ["race", { signals: Array.from({ length: 99 }, (_, i) => ({ name: `s${i}` })) }, "/nodes/0/data/signals"],
    ["map", { workflow: "invoice" }, "items"],
    ["map", { workflow: "invoice", items: { a: 1 } }, "/nodes/0/data/items"],
    ["map", { workflow: "invoce", items: [] }, "/nodes/0/data/workflow"],
    ["map", { workflow: "invoice", items: [], concurrency: 0 }, "/nodes/0/data/concurrency"],
    ["map", { workflow: "invoice", items: [], completeWhen: -1 }, "/nodes/0/data/completeWhen"],
    ["map", { workflow: "invoice", items: [], completeWhen: true }, "/nodes/0/data/completeWhen"],
    ["map", { workflow: "invoice", items: [], completeWhen: "done >" }, "/nodes/0/data/completeWhen"],
    ["map", { workflow: "invoice", items: [], remaining: "keep" }, "/nodes/0/data/remaining"],
    ["map", { workflow: "invoice", items: [], toleratedFailures: "half" }, "/nodes/0/data/toleratedFailures"],
    ["map", { workflow: "invoice", items: [], toleratedFailures: -1 }, "/nodes/0/data/toleratedFailures"],
    ["workflow", {}, "workflow"],
    ["workflow", { workflow: "invoce" }, "/nodes/0/data/workflow"],
    ["workflow", { workflow: "invoice", detached: "yes" }, "/nodes/0/data/detached"],
    ["fail", undefined, "/nodes/0/data"],
    ["fail", {}, "message"],
    ["fail", { message: "" }, "/nodes/0/data/message"],
    ["fail", { message: "x", code: 7 }, "/nodes/0/data/code"],
  ])("refuse %s with the data %j before anything runs, and say where", (type, data, where) => {
    expect(mistakes(type, data).join("\n")).toContain(where);
  });

  it.each<[string, Json]>([
    ["race", { signals: [{ name: "a" }, { name: "b", key: "k", handle: "x", transient: true }] }],
    ["race", { answer: {}, timer: { until: 5, handle: "late" } }],
    ["race", { signals: [{ name: "a" }], answer: { schema: true } }],
    ["map", { workflow: "invoice", items: [], completeWhen: "done >= 2", toleratedFailures: "12.5%", open: true, remaining: "finish" }],
    ["map", { workflow: "invoice", items: ["{{ input }}"], completeWhen: "{{ failed > 2 }}", toleratedFailures: "100%" }],
    ["signal", { name: "go", schema: { type: "number" }, timeout: 5 }],
    ["switch", { cases: [{ when: true, handle: "x" }], every: true }],
    ["approval", { responders: ["ada"], quorum: 1, approvers: [] }],
  ])("allow %s the data %j", (type, data) => {
    expect(mistakes(type, data).filter((mistake) => !mistake.includes("NODE_UNREACHABLE"))).toEqual([]);
  });

  it("refuse hostile data that comes out of an expression, never retried", async () => {
    const retryPolicy = { maxAttempts: 5, interval: 1, backoff: "fixed" };
    const nodes = [{ id: "a", type: "switch", data: { value: 1, cases: "{{ input }}" }, retryPolicy }];
    const snapshot = await run({ id: "w", nodes, edges: [] }, { constructor: 1, length: -1 });
    expect(snapshot).toMatchObject({ status: "failed", error: { code: "DATA_INVALID" } });
  });

  it.each(
    Object.entries<NodeDefinition>(builtinNodes as never),
  )("tell an editor what %s is, with an example that compiles", (type, node) => {
    expect(node.metadata).toMatchObject({
      label: expect.stringMatching(/./),
      icon: expect.stringMatching(/^[a-z]+(-[a-z]+)*$/),
      description: expect.stringMatching(/./),
      category: expect.stringMatching(/./),
    });
    expect(mistakes(type, node.metadata?.example).filter((mistake) => !/handle|there is no node/.test(mistake))).toEqual([]);
  });

  it.each(Object.entries<NodeDefinition>(builtinNodes as never))("describe every field of %s", (_type, { input }) => {
    const { properties = {} } = (input ?? {}) as { properties?: Record<string, object> };
    for (const property of Object.values(properties))
      expect(property).toMatchObject({ title: expect.any(String), description: expect.any(String) });
  });

  it("cannot be changed by one user of them for all others", () => {
    expect(Object.isFrozen(builtinNodes)).toBe(true);
  });

  it("name the mistakes of a definition all at once", () => {
    const workflow = inLine({ id: "a", type: "if" }, { id: "b", type: "fail" }, { id: "c", type: "teleport" });
    expect(() => new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes })).toThrow(StepfoldError);
    expect(checkWorkflow(workflow, builtinNodes).filter(({ severity }) => severity === "error").length).toBeGreaterThanOrEqual(3);
  });
});
