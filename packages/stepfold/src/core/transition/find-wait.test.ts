import { describe, expect, it } from "vitest";
import { completing, eventOn, graph, startedAt } from "../../../test/core/execution.fixture.ts";
import { bench, flow as drawn } from "../../../test/nodes/workflow.fixture.ts";
import { expressionLanguage } from "../../expressions/expression-language.ts";
import { compile } from "../definition/compile/compile.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { findPaths, type Target } from "../snapshot/target.ts";
import { apply, fold } from "./apply.ts";
import { findWait, openWaits, workflowOf } from "./find-wait.ts";

const flow = graph(["f>a", "f>b", "f>c"]);
const forked = completing(flow, fold(flow, [startedAt(flow, "f")]), "0", "x");
const suspend = (snapshot: Snapshot, pathId: string, wait: object): Snapshot =>
  apply(flow, snapshot, eventOn(snapshot, pathId, { waits: [wait as never] }));
const one = suspend(forked, "0", { id: "0@3", kind: "external", timeoutAt: 9_000 });
const two = suspend(one, "0.1", { id: "0.1@2", kind: "external" });
const all = suspend(two, "0.2", { id: "0.2@2", kind: "timer", resumeAt: 5_000 });
const found = (snapshot: Snapshot, target?: Target, now = 0): string => findWait(flow, snapshot, target, now).wait.id;
const refused = (snapshot: Snapshot, target: unknown, code: string, details: object = {}): void =>
  expect(() => findWait(flow, snapshot, target as Target, 9_000)).toThrow(
    expect.objectContaining({ code, details: expect.objectContaining(details) }),
  );

describe("findWait", () => {
  it("finds the only wait without being told which", () => {
    expect(found(one)).toBe("0@3");
  });

  it("finds a wait by its node, by its id, or by text that is either", () => {
    expect([found(all, "b"), found(all, { node: "b" }), found(all, "0.1@2"), found(all, { waitId: "0@3" })]).toEqual([
      "0.1@2",
      "0.1@2",
      "0.1@2",
      "0@3",
    ]);
  });

  it("asks which of several is meant", () => {
    refused(all, undefined, "RESUME_AMBIGUOUS", {
      waits: [
        { id: "0@3", nodeId: "a" },
        { id: "0.1@2", nodeId: "b" },
      ],
    });
  });

  it("refuses a wait that is not open, and a timer, which no payload ends", () => {
    refused(forked, undefined, "WAIT_GONE", { target: "any node", open: [] });
    refused(all, "0@1", "WAIT_GONE", { target: "0@1", open: ["a (0@3)", "b (0.1@2)"] });
    refused(all, "c", "WAIT_GONE", { target: "c" });
    refused(all, "0.2@2", "WAIT_GONE");
  });

  it("refuses a node that the workflow does not have", () => {
    for (const target of ["nowhere", { node: "toString" }, ""]) refused(all, target, "NODE_UNKNOWN");
  });

  it("refuses a wait whose time is over, on the very millisecond", () => {
    expect(found(one, undefined, 8_999)).toBe("0@3");
    refused(one, undefined, "WAIT_EXPIRED", { waitId: "0@3", timeoutAt: 9_000 });
  });

  it("refuses an execution that has ended", () => {
    refused(apply(flow, one, { type: "cancelled", version: one.version + 1, at: 0 }), undefined, "EXECUTION_ENDED", {
      status: "cancelled",
    });
  });

  it.each<unknown>([
    null,
    5,
    true,
    {},
    [],
    { node: 5 },
    { waitId: { toString: 1, valueOf: 1 } },
    () => "a",
  ])("refuses a target of another kind: %j", (target) => {
    refused(two, target, "OPTION_INVALID", { option: "target" });
  });
});

describe("a target in a map", () => {
  const item = drawn("item", { ask: "approval" });
  const root = drawn("root", { f: "noop", m: ["map", { workflow: "item", items: [1, 2] }], ask: "approval" }, ["f>m", "f>ask"], {
    workflows: { item },
  });
  const { engine } = bench(root);

  const places = (snapshot: Snapshot, target: Target): string[] =>
    findPaths(snapshot, target).map(({ scope, path }) => `${scope}:${path.nodeId}`);

  it("is named by its item, by the map's own node or the one inside, or by the whole way to it", async () => {
    const snapshot = await engine.execute({ workflowId: "w" });
    const waitOf = (target: Target): string => findWait(engine.workflow, snapshot, target, 0).wait.id;
    for (const target of ["m[1]", "ask[1]", { node: "ask", item: 1 }, { node: "m", item: 1 }, "m[1]/ask"])
      expect([waitOf(target), ...places(snapshot, target)]).toEqual(["0#2/1>0@2", "0#2/1:ask"]);
    expect(places(snapshot, { waitId: "0#2/0>0@2" })).toEqual(["0#2/0:ask"]);
  });

  it("is refused by its item where that does not wait, with what does", async () => {
    const snapshot = await engine.execute({ workflowId: "w" });
    expect(() => findWait(engine.workflow, snapshot, "m[7]", 0)).toThrow(
      expect.objectContaining({
        code: "WAIT_GONE",
        details: { workflowId: "w", target: "m[7]", open: ["ask (0.1@2)", "m[0]/ask (0#2/0>0@2)", "m[1]/ask (0#2/1>0@2)"] },
      }),
    );
  });
});

describe("openWaits", () => {
  it("lists what a payload may answer, in the order of the paths", () => {
    expect(openWaits(all).map(({ path, wait }) => `${path.nodeId} ${wait.id}`)).toEqual(["a 0@3", "b 0.1@2"]);
    expect(openWaits(forked)).toEqual([]);
  });
});

describe("workflowOf", () => {
  const inner = drawn("inner", { ask: "approval" });
  const middle = drawn("middle", { all: ["map", { workflow: "inner", items: ["a"] }] }, [], { workflows: { inner } });
  const root = drawn("root", { sub: ["workflow", { workflow: "middle" }] }, [], { workflows: { middle } });

  it("tells which workflow a scope runs, and undefined of a scope or workflow that is not there", async () => {
    const snapshot = await bench(root).engine.execute({});
    const compiled = compile(root, expressionLanguage);
    const nameOf = (scope: string): string | undefined => workflowOf(compiled, snapshot, scope)?.definition.id;
    expect(["", "0#1", "0#1>0#1/0"].map(nameOf)).toEqual(["root", "middle", "inner"]);
    expect(nameOf("0#9")).toBeUndefined();
    expect(workflowOf(compile(inner, expressionLanguage), snapshot, "0#1>0#1/0")).toBeUndefined();
    expect(workflowOf(compiled, { ...snapshot, childStates: undefined }, "0#1")).toBeUndefined();
  });
});
