import { describe, expect, it } from "vitest";
import { viaJson } from "../../test/engine/engine.fixture.ts";
import { bench, flow, outputOf } from "../../test/nodes/workflow.fixture.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Json } from "../core/values/json.ts";
import { WorkflowEngine } from "../engine/workflow-engine.ts";
import { builtinNodes } from "./index.ts";

const yes = { approved: true };
/** Its output is its item, doubled; for a text it waits for an answer, for null it fails. */
const inner = flow(
  "inner",
  {
    what: [
      "switch",
      {
        value: "{{ input }}",
        cases: [
          { equals: null, handle: "no" },
          { when: "{{ String(input) === input }}", handle: "ask" },
        ],
      },
    ],
    no: ["fail", { message: "no item", code: "NONE" }],
    ask: "approval",
    answer: ["end", { output: "{{ input }}" }],
    double: ["end", { output: "{{ input * 2 }}" }],
  },
  ["what>no@no", "what>ask@ask", "what>double@default", "ask>answer@approved"],
);
const mapOf = (data: object, limits = {}): ReturnType<typeof bench> =>
  bench(
    flow("w", { m: ["map", { workflow: "inner", items: "{{ input }}", ...data }], next: ["set", { got: "{{ $json }}" }] }, ["m>next"], {
      workflows: { inner },
    }),
    limits,
  );
const run = (input: Json, data: object = {}): Promise<Snapshot> => mapOf(data).engine.execute({ input });

describe("map", () => {
  it("gives a list of what the items gave, in their order", async () => {
    expect(await run([3, 1, 2])).toMatchObject({ status: "completed", output: { got: [6, 2, 4] } });
  });

  it("gives an empty list for no items", async () => {
    expect(await run([])).toMatchObject({ status: "completed", output: { got: [] } });
  });

  it("waits for an item that waits for somebody", async () => {
    const { engine } = mapOf({});
    const paused = await engine.execute({ input: [1, "b", 3] });
    expect(paused).toMatchObject({ status: "paused", currentNodeId: "m" });
    for (const target of ["m[1]/ask", "ask", { node: "m", item: 1 }, undefined] as const)
      expect(await engine.execute({ snapshot: viaJson(paused), target, externalPayload: yes })).toMatchObject({
        status: "completed",
        output: { got: [2, "b", 6] },
      });
  });

  it("tells items that wait apart", async () => {
    const { engine } = mapOf({});
    let snapshot = await engine.execute({ input: ["a", "b"] });
    await expect(engine.execute({ snapshot, target: "ask", externalPayload: yes })).rejects.toMatchObject({ code: "RESUME_AMBIGUOUS" });
    for (const item of [1, 0])
      snapshot = await engine.execute({ snapshot: viaJson(snapshot), target: { node: "ask", item }, externalPayload: yes });
    expect(snapshot).toMatchObject({ status: "completed", output: { got: ["a", "b"] } });
  });

  it("has no more items under way than it may, those that wait not counted", async () => {
    const steps = async (data: object): Promise<readonly (readonly string[])[]> => {
      const seen: string[][] = [];
      for await (const { snapshot } of mapOf(data).engine.stream({ input: [1, "b", 3, 4] })) {
        const open = Object.entries(snapshot.childStates ?? {}).filter(([, { status, queued }]) => status === "active" && !queued);
        seen.push(open.map(([key]) => key));
      }
      return seen;
    };
    const one = await steps({ concurrency: 1 });
    expect(Math.max(...one.map((open) => open.length))).toBe(1);
    expect(new Set(one.flat())).toEqual(new Set(["0#1/0", "0#1/1", "0#1/2", "0#1/3"]));
    expect(Math.max(...(await steps({})).map((open) => open.length))).toBe(4);
  });

  it.each<[string, Json, object]>([
    ["none is tolerated", [1, null], {}],
    ["more than a number", [1, null, null], { toleratedFailures: 1 }],
    ["more than a share", [1, null, null], { toleratedFailures: "50%" }],
    ["more than no share", [1, null], { toleratedFailures: "0%" }],
    ["more than a share of little", [1, null], { toleratedFailures: "49.999%" }],
  ])("fails where %s", async (_, items, data) => {
    const snapshot = await run(items, data);
    expect(snapshot).toMatchObject({
      status: "failed",
      error: { code: "MAP_FAILED", nodeId: "m", message: expect.stringContaining("no item") },
    });
  });

  it.each<[Json, object]>([
    [[1, null, 3], { toleratedFailures: 1 }],
    [[1, null, 3], { toleratedFailures: "50%" }],
    [[1, null, 3], { toleratedFailures: "100%" }],
    [[1, null, 3], { toleratedFailures: "100.0%" }],
    [[1, null, 3], { toleratedFailures: "{{ 1 + 1 }}" }],
  ])("tells of %j with %j what failed", async (items, data) => {
    const snapshot = await run(items, data);
    expect(snapshot).toMatchObject({ status: "completed", output: { got: [2, { error: { code: "NONE", message: "no item" } }, 6] } });
  });

  it("tolerates that all fail", async () => {
    expect(await run([null, null], { toleratedFailures: "100%" })).toMatchObject({
      status: "completed",
      output: { got: [{ error: {} }, { error: {} }] },
    });
  });

  it.each<[number | string, Json]>([
    [2, [2, "null", 6]],
    ["done >= 2", [2, "null", 6]],
    ["{{ results.length == 2 }}", [2, "null", 6]],
    ["results.filter(r => r > 5).length > 0", [2, "null", 6]],
    ["done >= input.length - 2", [2, "null", "null"]],
  ])("goes on early when %j", async (completeWhen, expected) => {
    const { output } = await run([1, "b", 3], { completeWhen, concurrency: 1 });
    expect(output).toEqual({ got: (expected as Json[]).map((item) => (item === "null" ? null : item)) });
  });

  it.each([[1], ["done == 1"]])("knows %j also where all its data is constant", async (completeWhen) => {
    const data = { workflow: "inner", items: ["a", 2], completeWhen };
    const { engine } = bench(flow("w", { m: ["map", data] }, [], { workflows: { inner } }));
    expect(await engine.execute({})).toMatchObject({ status: "completed", output: [null, 4] });
  });

  it("never sees the condition, also where all its data is constant", async () => {
    const seen: unknown[] = [];
    const map = { ...builtinNodes.map, executor: (data: unknown) => ({ data: seen.push(data) }) };
    const workflow = flow("w", { m: ["map", { workflow: "inner", items: [1], completeWhen: "done >= 1" }] }, [], { workflows: { inner } });
    await new WorkflowEngine({ workflow, nodeDefinitions: { ...builtinNodes, map } }).execute({});
    expect(seen).toEqual([{ workflow: "inner", items: [1] }]);
  });

  it("goes on before anything ran when none is needed", async () => {
    expect(await run([1, null], { completeWhen: 0 })).toMatchObject({ status: "completed", output: { got: [null, null] } });
  });

  it("ends when all have ended though the condition never held", async () => {
    for (const completeWhen of [9, "done > 9"]) expect(await run([1, 2], { completeWhen })).toMatchObject({ output: { got: [2, 4] } });
  });

  it("refuses a condition that can never work, and fails with one that does not this time", async () => {
    expect(() => mapOf({ completeWhen: "nowhere > 1" })).toThrow(/completeWhen/);
    expect(await run([1], { completeWhen: "results[0].a.b > 1" })).toMatchObject({
      status: "failed",
      error: { code: "EXPRESSION_FAILED", nodeId: "m" },
    });
  });

  it("lets the others finish where it says so, without waiting for them", async () => {
    const { engine } = mapOf({ completeWhen: 1, remaining: "finish" });
    const moved = await engine.execute({ input: [1, "b"] });
    expect(moved).toMatchObject({
      status: "paused",
      context: { next: [{ output: { got: [2, null] } }] },
      activePaths: [{ draining: true, nodeId: "m" }],
    });
    const ended = await engine.execute({ snapshot: viaJson(moved), target: "ask", externalPayload: yes });
    expect(ended).toMatchObject({ status: "completed", output: { got: [2, null] }, activePaths: [] });
    expect(ended.context.m).toHaveLength(1);
  });

  it("lets those that had not begun yet run too, and hears no failure of them", async () => {
    const ran: string[] = [];
    const { engine } = mapOf({ completeWhen: 1, remaining: "finish", concurrency: 1 });
    let last: Snapshot | null = null;
    for await (const { event, snapshot } of engine.stream({ input: [1, null, 3] })) {
      if (event.type === "completed" || event.type === "failed") ran.push(event.nodeId);
      last = snapshot;
    }
    expect(ran.filter((id) => id !== "what")).toEqual(["double", "next", "no", "double"]);
    expect(last).toMatchObject({ status: "completed", output: { got: [2, null, null] } });
  });

  it("ends the others where it says nothing", async () => {
    const { engine } = mapOf({ completeWhen: 1 });
    const ended = await engine.execute({ input: ["b", 2] });
    expect(ended).toMatchObject({ status: "completed", output: { got: [null, 4] } });
    expect(ended).not.toHaveProperty("childStates");
  });

  it("takes more items until it is closed", async () => {
    const { engine } = mapOf({ open: true });
    let snapshot = await engine.execute({ input: [1] });
    expect(snapshot).toMatchObject({ status: "paused", activePaths: [{ children: { map: { open: true, total: 1, done: 1 } } }] });
    snapshot = await engine.execute({ snapshot: await engine.send(viaJson(snapshot), { type: "addItem", node: "m", item: 5 }) });
    snapshot = await engine.send(viaJson(snapshot), { type: "addItem", node: "m", item: "b" });
    snapshot = await engine.execute({ snapshot: await engine.send(snapshot, { type: "closeMap", node: "m" }) });
    expect(snapshot.status).toBe("paused");
    await expect(engine.send(snapshot, { type: "addItem", node: "m", item: 6 })).rejects.toMatchObject({ code: "MAP_CLOSED" });
    expect(await engine.execute({ snapshot, target: "ask", externalPayload: yes })).toMatchObject({
      status: "completed",
      output: { got: [2, 10, "b"] },
    });
  });

  it("starts without items, and is closed without any", async () => {
    const { engine } = mapOf({ open: true });
    const open = await engine.execute({ input: [] });
    expect(open.status).toBe("paused");
    expect(await engine.execute({ snapshot: await engine.send(open, { type: "closeMap", node: "m" }) })).toMatchObject({
      output: { got: [] },
    });
  });

  it("is completed by command, open or not", async () => {
    for (const open of [true, false]) {
      const { engine } = mapOf({ open });
      const snapshot = await engine.send(await engine.execute({ input: [1, "b"] }), { type: "completeMap", node: "m" });
      expect(await engine.execute({ snapshot: viaJson(snapshot) })).toMatchObject({ status: "completed", output: { got: [2, null] } });
    }
  });

  it("gives null for an item that was cancelled", async () => {
    const { engine } = mapOf({});
    const snapshot = await engine.send(await engine.execute({ input: ["a", "b", 3] }), { type: "cancel", target: { node: "m", item: 0 } });
    const ended = await engine.execute({ snapshot, target: "ask", externalPayload: yes });
    expect(ended).toMatchObject({ status: "completed", output: { got: [null, "b", 6] } });
  });

  it("runs maps inside maps", async () => {
    const rows = flow("rows", { m: ["map", { workflow: "inner", items: "{{ input }}", concurrency: 1 }] });
    const { engine } = bench(flow("w", { m: ["map", { workflow: "rows", items: "{{ input }}" }] }, [], { workflows: { rows, inner } }));
    const paused = await engine.execute({ input: [[1, "x"], [], ["y", 2]] });
    let snapshot = paused;
    for (const target of ["m[2]/m[0]/ask", "m[0]/m[1]/ask"])
      snapshot = await engine.execute({ snapshot: viaJson(snapshot), target, externalPayload: yes });
    expect(snapshot).toMatchObject({ status: "completed", output: [[2, "x"], [], ["y", 4]] });
  });

  it.each<[Json, object, string]>([
    [{ 0: 1, length: 1 }, {}, "DATA_INVALID"],
    ["abc", {}, "DATA_INVALID"],
    [null, {}, "DATA_INVALID"],
    [[1], { items: "{{ input.missing }}" }, "DATA_INVALID"],
    [[1], { concurrency: "{{ 0 }}" }, "DATA_INVALID"],
    [[1], { toleratedFailures: "{{ '101%' }}" }, "DATA_INVALID"],
    [[1], { toleratedFailures: "{{ '100.1%' }}" }, "DATA_INVALID"],
    [[1], { remaining: "{{ 'keep' }}" }, "DATA_INVALID"],
    [[1], { workflow: "{{ 'constructor' }}" }, "DEFINITION_UNKNOWN"],
  ])("fails with the items %j and %j by %s, never retried", async (input, data, code) => {
    const snapshot = await run(input, data);
    expect(snapshot).toMatchObject({ status: "failed", error: { code } });
    expect(snapshot.context.m).toHaveLength(1);
    expect(outputOf(snapshot, "next")).toBeUndefined();
  });

  it("says that items must be a list", async () => {
    expect((await run({ a: 1 })).error?.message).toMatch(/\/items.*array/);
  });

  it("takes hostile items as what they are", async () => {
    const echo = flow("inner", { a: ["end", { output: "{{ input }}" }] });
    const items: Json = [{ constructor: 1, toString: null }, "{{ 1 + 1 }}", "{{", [[]], { error: "none" }];
    const { engine } = bench(flow("w", { m: ["map", { workflow: "inner", items: "{{ input }}" }] }, [], { workflows: { inner: echo } }));
    expect((await engine.execute({ input: items })).output).toEqual(items);
  });
});
