import { describe, expect, it } from "vitest";
import { Model, type ModelEvent } from "./model.fixture.ts";
import type { ModelDefinition, ModelNode } from "./model-definition.fixture.ts";

/** A workflow from edges like `"f>a f>b a.x>j"` and members of some nodes (`special`). The first node of the text is the start. */
function workflow(text: string, special: Record<string, Partial<ModelNode>> = {}, more: Partial<ModelDefinition> = {}): ModelDefinition {
  const edges = text.split(" ").map((word) => {
    const [, source = "", handle, target = ""] = /^(\w+)(?:\.(\w+))?>(\w+)$/.exec(word) ?? [];
    return { source, target, ...(handle === undefined ? {} : { sourceHandle: handle }) };
  });
  const ids = new Set([...edges.flatMap((edge) => [edge.source, edge.target]), ...Object.keys(special)]);
  const nodes = [...ids].map((id) => ({ id, type: "task", ...special[id] }));
  return { id: "w", start: edges[0]?.source ?? "a", nodes, edges, ...more };
}

/** Completes the first task of a node by these handles (without handles: by the default handle). */
function complete(model: Model, node: string, ...handles: string[]): void {
  const task = model.tasks().find((candidate) => candidate.nodeId === node);
  expect(task, `a task of ${node}`).toBeDefined();
  expect(model.apply({ type: "completed", task: task?.name ?? "", handles: handles.length > 0 ? handles : [""] })).toBe(true);
}

/** Completes the first task of a node by a handle without an edge, so that the path ends. */
function end(model: Model, node: string): void {
  complete(model, node, "nowhere");
}

function act(model: Model, ...events: readonly ModelEvent[]): void {
  for (const event of events) expect(model.apply(event), JSON.stringify(event)).toBe(true);
}

const tasks = (model: Model) => model.tasks().map((task) => `${task.nodeId}:${task.name}`);
const places = (model: Model) => model.paths().map((path) => `${path.chain}${path.id} ${path.nodeId} ${path.status}`);

describe("the examples of docs/path-semantics.md", () => {
  it("1. joins both branches, and keeps the rounds of a loop apart", () => {
    const model = Model.start(workflow("f>a f>b a>j b>j j.again>f", { j: { join: "all" } }));
    complete(model, "f");
    expect(model.paths().map((path) => [path.id, path.waves])).toEqual([
      ["0", { f: "0#1" }],
      ["0.1", { f: "0#1" }],
    ]);
    complete(model, "a");
    expect(places(model)).toEqual(["0 j joining", "0.1 b ready"]);
    complete(model, "b");
    expect(tasks(model)).toEqual(["j:0@4"]);
    expect(model.tasks()[0]?.inputs.map(([node]) => node)).toEqual(["a", "b"]);
    complete(model, "j", "again");
    complete(model, "f");
    expect(places(model)).toEqual(["0 a ready", "0.2 b ready"]);
  });

  it("2. fires with one input in the transition in which the other branch ends", () => {
    const model = Model.start(workflow("f>a f>b a>j b>j", { j: { join: "all" } }));
    complete(model, "f");
    complete(model, "a");
    end(model, "b");
    expect(tasks(model)).toEqual(["j:0@4"]);
    expect(model.tasks()[0]?.inputs).toHaveLength(1);
  });

  it("3. fires for the branch left behind, and again for the new wave of a redo", () => {
    const model = Model.start(workflow("f>a f>b a>j b>j b.redo>f", { j: { join: "all" } }));
    complete(model, "f");
    complete(model, "a");
    complete(model, "b", "redo");
    expect(tasks(model)).toEqual(["j:0@4", "f:0.1@2"]);
    complete(model, "f");
    complete(model, "a");
    complete(model, "b");
    expect(model.firings().j).toBe(2);
  });

  it("4. falls short when too many branches reject", () => {
    const model = Model.start(workflow("f>a f>b f>c a>j b>j c>j", { j: { join: 2 } }));
    complete(model, "f");
    complete(model, "a");
    end(model, "b");
    expect(model.status).toBe("active");
    end(model, "c");
    expect([model.status, model.error?.code]).toEqual(["failed", "JOIN_SHORT"]);
  });

  it("5. cancels the other branch of the loop, not the one beside it", () => {
    const model = Model.start(workflow("s>f s>c f>a f>b a>j b>j j.again>f c.again>f", { j: { join: 1, late: "cancel" } }));
    complete(model, "s");
    complete(model, "f");
    complete(model, "a");
    expect(places(model)).toEqual(["0 j ready", "0.1 c ready"]);
    expect(model.world().ended).toEqual({ overtaken: 1 });
  });

  it.each([
    ["a", "b", "a", "b"],
    ["a", "a", "b", "b"],
    ["b", "b", "a", "a"],
    ["b", "a", "a", "b"],
  ])("6. never combines two waves: %s %s %s %s", (...order) => {
    const model = Model.start(workflow("s>f s>g g>f f>a f>b a>j b>j", { j: { join: "all" } }));
    for (const node of ["s", "g", "f", "f"]) complete(model, node);
    for (const node of order) complete(model, node);
    expect(model.firings().j).toBe(2);
    for (const task of model.tasks()) expect(task.inputs.map(([node]) => node)).toEqual(["a", "b"]);
    const born = model.tasks().map((task) => task.inputs.map(([, path]) => path));
    expect(born.toSorted()).toEqual([
      ["0", "0.2"],
      ["0.1", "0.1.1"],
    ]);
  });

  it("7. breaks a circle of joins although an unrelated branch waits for a person", () => {
    const definition = workflow("f>a f>b f>p a>j z>j b>k y>k j>y k>z", { j: { join: "all" }, k: { join: "all" } });
    const model = Model.start(definition);
    complete(model, "f");
    act(model, { type: "suspended", task: "0.2@1", waits: [{ kind: "external" }] });
    complete(model, "a");
    complete(model, "b");
    expect(places(model)).toEqual(["0 j ready", "0.1 k joining", "0.2 p suspended"]);
    complete(model, "j");
    complete(model, "y");
    expect(tasks(model)).toEqual(["k:0@7"]);
  });

  it("8. drops what a cancelled task answers late, and never gives its id again", () => {
    const model = Model.start(workflow("f>a f>b a>j b>j j.again>f", { j: { join: 1, late: "cancel" } }));
    complete(model, "f");
    complete(model, "a");
    const { version } = model;
    expect(model.apply({ type: "completed", task: "0.1@1", handles: [""] })).toBe(false);
    expect(model.version).toBe(version);
    complete(model, "j", "again");
    complete(model, "f");
    expect(places(model)).toEqual(["0 a ready", "0.2 b ready"]);
  });
});

describe("children", () => {
  const item = workflow("p>q");
  const map = (children: Partial<NonNullable<ModelNode["children"]>>) =>
    Model.start(workflow("m>z", { m: { type: "map", children: { workflow: "c", items: 3, ...children } } }, { workflows: { c: item } }));

  it("names tasks by the children's keys and folds each item in the transition in which it ends", () => {
    const model = map({ concurrency: 2 });
    act(model, { type: "spawned", task: "0@1" });
    expect(tasks(model)).toEqual(["p:0#1/0>0@1", "p:0#1/1>0@1"]);
    for (const node of ["p", "q"]) complete(model, node);
    expect(tasks(model)).toEqual(["p:0#1/1>0@1", "p:0#1/2>0@1"]);
    for (const node of ["p", "p", "q", "q"]) complete(model, node);
    expect(tasks(model)).toEqual(["z:0@3"]);
  });

  it("starts another item while one is wholly suspended, which then has to wait for a slot", () => {
    const model = map({ concurrency: 1 });
    act(model, { type: "spawned", task: "0@1" }, { type: "suspended", task: "0#1/0>0@1", waits: [{ kind: "external" }] });
    expect(tasks(model)).toEqual(["p:0#1/1>0@1"]);
    act(model, { type: "resumed", wait: "0#1/0>0@2" });
    expect(tasks(model)).toEqual(["p:0#1/1>0@1"]);
    complete(model, "p");
    expect(tasks(model)).toEqual(["q:0#1/1>0@2"]);
    complete(model, "q");
    expect(tasks(model)).toEqual(["p:0#1/0>0@3"]);
  });

  it("moves on early by its own id, while a draining path keeps the children and their keys", () => {
    const model = map({ completeWhen: 1, remaining: "finish" });
    act(model, { type: "spawned", task: "0@1" });
    for (const node of ["p", "q"]) complete(model, node);
    expect(tasks(model)).toEqual(["z:0@3", "p:0#1/1>0@1", "p:0#1/2>0@1"]);
    expect(model.paths()[1]).toMatchObject({ id: "0.1", nodeId: "m", status: "suspended", draining: true });
    for (const node of ["z", "p", "p", "q"]) complete(model, node);
    expect(model.status).toBe("active");
    complete(model, "q");
    expect(model.status).toBe("completed");
    expect(model.world().ended).toEqual({ end: 4, drained: 1 });
  });

  it("completes an empty map at once and fails the node with an item's error", () => {
    const empty = map({ items: 0 });
    act(empty, { type: "spawned", task: "0@1" });
    expect(tasks(empty)).toEqual(["z:0@3"]);
    const failing = map({});
    act(failing, { type: "spawned", task: "0@1" }, { type: "failed", task: "0#1/1>0@1", retry: false });
    expect([failing.status, failing.error]).toEqual(["failed", { code: "TASK_FAILED", nodeId: "p" }]);
  });
});

describe("waits, holds and endings", () => {
  it("withdraws all waits of a path when one is taken", () => {
    const model = Model.start(workflow("a>b"));
    const waits = [{ kind: "signal", signal: "go" }, { kind: "external" }] as const;
    act(model, { type: "signalled", name: "stop" }, { type: "suspended", task: "0@1", waits }, { type: "resumed", wait: "0@2.1" });
    expect(tasks(model)).toEqual(["a:0@3"]);
    expect(model.apply({ type: "resumed", wait: "0@2" })).toBe(false);
  });

  it("keeps early signals for waits that are not transient", () => {
    const model = Model.start(workflow("a>b"));
    act(model, { type: "signalled", name: "go" });
    const transient = model.clone();
    act(transient, { type: "suspended", task: "0@1", waits: [{ kind: "signal", signal: "go", transient: true }] });
    expect(transient.status).toBe("paused");
    act(model, { type: "suspended", task: "0@1", waits: [{ kind: "signal", signal: "go" }] });
    expect(tasks(model)).toEqual(["a:0@3"]);
    expect(model.world().inbox).toEqual([]);
  });

  it("lets one path at a time into a mutex, and stalls on a milestone that never comes", () => {
    const gates = { a: { mutex: "m" }, b: { mutex: "m" }, c: { when: { done: "z", times: 1 } } };
    const model = Model.start(workflow("f>a f>b f>c z>z", gates, { start: "f" }));
    complete(model, "f");
    expect(places(model)).toEqual(["0 a ready", "0.1 b held", "0.2 c held"]);
    act(model, { type: "failed", task: "0@2", retry: true });
    expect(tasks(model)).toEqual([]);
    act(model, { type: "retried", path: "0" });
    complete(model, "a");
    complete(model, "b");
    expect([model.status, model.error?.code]).toEqual(["failed", "STALLED"]);
  });

  it("accepts an outcome that was under way when its milestone passed", () => {
    const model = Model.start(workflow("f>a f>b", { b: { when: { at: "a" } } }));
    complete(model, "f");
    expect(tasks(model)).toEqual(["a:0@2", "b:0.1@1"]);
    const held = model.clone();
    act(held, { type: "suspended", task: "0.1@1", waits: [{ kind: "external" }] });
    act(model, { type: "suspended", task: "0@2", waits: [{ kind: "external" }] }, { type: "resumed", wait: "0@3" });
    const version = model.clone();
    complete(version, "a");
    expect(version.error?.code).toBe("STALLED");
    const beside = Model.start(workflow("f>a f>b f>c", { b: { when: { at: "a" } } }));
    complete(beside, "f");
    complete(beside, "a");
    expect(places(beside)).toEqual(["0.1 b held", "0.2 c ready"]);
    act(beside, { type: "completed", task: "0.1@1", handles: [""] });
    expect(places(beside)).toEqual(["0.2 c ready"]);
  });

  it("takes back what was done, newest first, and what may have been done", () => {
    const model = Model.start(workflow("a>b b>c b>d", { a: { compensate: true }, b: { compensate: true }, d: { compensate: true } }));
    complete(model, "a");
    complete(model, "b");
    act(model, { type: "begun", task: "0.1@1" }, { type: "failed", task: "0@3", retry: false });
    expect(model.status).toBe("active");
    expect(model.world().root.ending?.undo.map((effect) => [effect.nodeId, effect.completed])).toEqual([
      ["d", false],
      ["b", true],
      ["a", true],
    ]);
    for (const node of ["d", "b", "a"]) complete(model, node);
    expect([model.status, model.error]).toEqual(["failed", { code: "TASK_FAILED", nodeId: "c" }]);
  });

  it("gives short ids to long lines of forks", () => {
    const model = Model.start(workflow("a>b a>a"));
    for (let lap = 0; lap < 40; lap += 1) complete(model, "a");
    expect(Math.max(...model.paths().map((path) => path.id.length))).toBeLessThanOrEqual(32);
  });
});
