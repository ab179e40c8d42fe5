import { describe, expect, it } from "vitest";
import type { Json } from "../core/json.ts";
import type { Snapshot } from "../core/snapshot.ts";
import { StepfoldError } from "../core/stepfold-error.ts";
import type { NodeDefinition } from "../engine/node-definition.ts";
import { checkWorkflow } from "../engine/prepared-workflow.ts";
import { WorkflowEngine } from "../engine/workflow-engine.ts";
import { builtinNodes } from "./index.ts";

type Line = { readonly id: string; readonly type: string; readonly data?: Json };

const inLine = (...nodes: readonly Line[]): object => ({
  id: "line",
  nodes,
  edges: nodes.slice(1).map(({ id }, i) => ({ source: nodes[i]!.id, target: id })),
});
const run = (workflow: object, input?: unknown): Promise<Snapshot> =>
  new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes }).execute({ input });
const mistakes = (type: string, data?: Json): string[] =>
  checkWorkflow({ id: "w", nodes: [{ id: "a", type, ...(data === undefined ? {} : { data }) }], edges: [] }, builtinNodes).map(
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

describe("end", () => {
  it("ends its path with its data, whatever edges leave it", async () => {
    const snapshot = await run(inLine({ id: "a", type: "end", data: { done: true } }, { id: "b", type: "noop" }));
    expect(snapshot).toMatchObject({ status: "completed", output: { done: true } });
    expect(snapshot.context.b).toBeUndefined();
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
      { id: "b", type: "end", data: "handled" },
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
    ["wait", {}, "/nodes/0/data"],
    ["wait", { for: "1s", until: 1 }, "/nodes/0/data"],
    ["wait", { for: null }, "/nodes/0/data/for"],
    ["wait", { fro: "1s" }, "/nodes/0/data/fro"],
    ["approval", { approvers: "ada" }, "/nodes/0/data/approvers"],
    ["approval", { schema: { required: "amount" } }, "/nodes/0/data/schema/required"],
    ["approval", { schema: { type: "string" } }, "/nodes/0/data/schema/type"],
    ["approval", { timout: "1d" }, "/nodes/0/data/timout"],
    ["fail", undefined, "/nodes/0/data"],
    ["fail", {}, "message"],
    ["fail", { message: "" }, "/nodes/0/data/message"],
    ["fail", { message: "x", code: 7 }, "/nodes/0/data/code"],
  ])("refuse %s with the data %j before anything runs, and say where", (type, data, where) => {
    expect(mistakes(type, data).join("\n")).toContain(where);
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
    expect(mistakes(type, node.metadata?.example).filter((mistake) => !mistake.includes("handle"))).toEqual([]);
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
