import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../../scripts/test/effort.ts";
import { graph, startedAt } from "../../../test/core/execution.fixture.ts";
import { keptHistory, randomDefinition } from "../../../test/core/restore.fixture.ts";
import { expectEqual } from "../../../test/testing/expect-equal.fixture.ts";
import { readSnapshot } from "../reading/read-snapshot.ts";
import { fold } from "../transition/apply.ts";
import { closeDraft } from "../transition/draft/close-draft.ts";
import { openDraft } from "../transition/draft/open-draft.ts";
import type { Json } from "../values/json.ts";
import type { Event, FailedEvent } from "./event.ts";
import { restore } from "./restore.ts";
import type { ActivePath, ChildHead, Context, Snapshot } from "./snapshot.ts";

const dice = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 20, maxLength: 80 });
const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });

const flow = graph(["step>end"]);
const { context: _, ...head } = { ...fold(flow, [startedAt(flow, "step")]), activePaths: [] } satisfies Snapshot;
const child = (more: Partial<ChildHead> = {}): ChildHead => ({
  ...{ workflow: "item", status: "active", currentNodeId: "inner", activePaths: [], version: 0 },
  ...more,
});
const at = (version: number, scope?: string) => ({ version, at: 5, pathId: "0", ...(scope !== undefined && { scope }) });
const task = { turn: 1, nodeId: "inner", attempt: 1, startedAt: 4 };
const done = (version: number, output: Json, scope?: string): Event => ({ ...at(version, scope), ...task, type: "completed", output });
const failed = (version: number, retryAt: number | null, scope?: string): FailedEvent => {
  return { ...at(version, scope), ...task, type: "failed", error: { name: "Error", message: "no luck" }, retryAt };
};
const mapped = (version: number, visit: number, items: Json[], scope?: string): Event => {
  const map = { items, concurrency: 1, remaining: "finish" as const, tolerated: 0, open: true as const };
  return { ...at(version, scope), ...task, type: "spawned", visit, children: { workflow: "item", map } };
};
const added = (version: number, item: Json, scope?: string): Event => ({ ...at(version, scope), type: "itemAdded", item });
/** Makes a path that waits for the children with this key. */
const waiting = (key: string, more: Partial<ActivePath> = {}): ActivePath => {
  const map = { total: 0, next: 0, done: 0, failed: 0, cancelled: 0, concurrency: 1, remaining: "finish" as const, tolerated: 0 };
  const path = { id: "0", nodeId: "step", status: "suspended" as const, turn: 2, visit: 1, attempts: 0, since: 0, stepPath: [] };
  return { ...path, children: { key, workflow: "item", map }, ...more };
};
const outputs = (context: Context = {}): unknown => {
  return Object.fromEntries(Object.entries(context).map(([nodeId, results]) => [nodeId, results.map(({ output }) => output)]));
};

describe("restore", () => {
  it("shows nothing of children, maps and compensations where there are none", () => {
    const snapshot = restore({ head, children: [], events: [startedAt(flow, "step"), done(1, "x")] });
    expect(Object.keys(snapshot)).toEqual([...Object.keys(head), "context"]);
    expect(outputs(snapshot.context)).toEqual({ inner: ["x"] });
  });

  it("gives every child its own results, however deep it is", () => {
    const children = [
      ["0#1/0", child()],
      ["0#1/0>0#2", child()],
    ] as const;
    const events = [done(1, "root"), done(2, "child", "0#1/0"), done(3, "nested", "0#1/0>0#2"), done(4, "again", "0#1/0")];
    const { context, childStates } = restore({ head, children, events });
    expect(outputs(context)).toEqual({ inner: ["root"] });
    expect(outputs(childStates?.["0#1/0"]?.context)).toEqual({ inner: ["child", "again"] });
    expect(outputs(childStates?.["0#1/0>0#2"]?.context)).toEqual({ inner: ["nested"] });
  });

  it("adds what failed and what was not answered in time, also before it is tried again", () => {
    const timedOut: Event = {
      ...at(3),
      type: "timedOut",
      nodeId: "inner",
      attempt: 1,
      waitId: "0@1",
      error: { name: "Timeout", message: "late" },
    };
    const { context } = restore({ head, children: [], events: [failed(1, 9), failed(2, null), timedOut] });
    expect(context.inner?.map(({ error }) => error)).toEqual(["no luck", "no luck", "late"]);
  });

  it.each([
    ["completed", {}, {}],
    ["failed", {}, {}],
    ["cancelled", {}, {}],
    ["completed", { kept: true }, { inner: ["x"] }],
    ["cancelled", { kept: true }, { inner: ["x"] }],
    ["paused", {}, { inner: ["x"] }],
  ] as const)("of a child that is %s %j it gives the results %j", (status, more, expected) => {
    const { childStates } = restore({ head, children: [["0#1", child({ status, ...more })]], events: [done(1, "x", "0#1")] });
    expect(outputs(childStates?.["0#1"]?.context)).toEqual(expected);
  });

  it("forgets the results of children that are gone", () => {
    const snapshot = restore({ head, children: [], events: [done(1, "x", "0#1")] });
    expect(snapshot.context).toEqual({});
    expect(snapshot).not.toHaveProperty("childStates");
  });

  it("puts results that followed from an event after its own, each where it belongs", () => {
    const result = (output: Json) => ({ output, timestamp: 5, attempt: 1, pathId: "0", version: 1 });
    const results = [
      { scope: "0#1", nodeId: "inner", result: result("followed") },
      { nodeId: "map", result: result(["x", "followed"]) },
      { scope: "gone", nodeId: "inner", result: result("lost") },
    ];
    const cancelled: Event = {
      version: 2,
      at: 5,
      type: "cancelled",
      consequences: { results: [{ nodeId: "map", result: result("late") }] },
    };
    const events = [{ ...done(1, "x", "0#1"), consequences: { results } }, cancelled];
    const { context, childStates } = restore({ head, children: [["0#1", child()]], events });
    expect(outputs(context)).toEqual({ map: [["x", "followed"], "late"] });
    expect(outputs(childStates?.["0#1"]?.context)).toEqual({ inner: ["x", "followed"] });
  });

  it("gives node ids no other meaning", () => {
    const events = ["toString", "hasOwnProperty"].map((nodeId, index) => ({ ...done(index, nodeId), nodeId }) as Event);
    expect(outputs(restore({ head, children: [], events }).context)).toEqual({
      toString: ["toString"],
      hasOwnProperty: ["hasOwnProperty"],
    });
  });
});

describe("items of a map", () => {
  it("are those it began with and those that were added", () => {
    const here = { ...head, activePaths: [waiting("0#1")] };
    const first = ["a"];
    const events = [mapped(1, 1, first), added(2, "b"), added(3, { c: null })];
    expect(restore({ head: here, children: [], events }).mapItems).toEqual({ "0#1": ["a", "b", { c: null }] });
    expect(first).toEqual(["a"]);
  });

  it("are gone with it", () => {
    const snapshot = restore({ head, children: [], events: [mapped(1, 1, ["a"])] });
    expect(snapshot).not.toHaveProperty("mapItems");
  });

  it("stay with a map that drains, which another path has taken over", () => {
    const here = { ...head, activePaths: [waiting("0#3"), waiting("0#1", { id: "0.1", draining: true })] };
    const events = [mapped(1, 1, ["a"]), added(2, "b"), mapped(3, 3, ["c"]), added(4, "d")];
    expect(restore({ head: here, children: [], events }).mapItems).toEqual({ "0#1": ["a", "b"], "0#3": ["c", "d"] });
  });

  it("are told apart where one path maps twice", () => {
    const here = { ...head, activePaths: [waiting("0#3")] };
    const events = [mapped(1, 1, ["a"]), added(2, "b"), mapped(3, 3, []), added(4, "d")];
    expect(restore({ head: here, children: [], events }).mapItems).toEqual({ "0#3": ["d"] });
  });

  it("are told apart by the child that the map is in", () => {
    const children = [
      ["0#1/0", child({ activePaths: [waiting("0#1")] })],
      ["0#1/1", child({ activePaths: [waiting("0#1")] })],
    ] as const;
    const events = [mapped(1, 1, ["a"], "0#1/0"), mapped(2, 1, ["b"], "0#1/1"), added(3, "c", "0#1/0"), mapped(4, 1, ["root"])];
    expect(restore({ head, children, events }).mapItems).toEqual({ "0#1/0>0#1": ["a", "c"], "0#1/1>0#1": ["b"] });
  });

  it("are none of a sub-workflow, nor of what is not there", () => {
    const here = { ...head, activePaths: [waiting("0#9"), { ...waiting("0#1"), children: { key: "0#1", workflow: "item" } }] };
    const spawned: Event = { ...at(1), ...task, type: "spawned", visit: 1, children: { workflow: "item", input: 1 } };
    expect(restore({ head: here, children: [], events: [spawned, added(2, "x")] })).not.toHaveProperty("mapItems");
  });
});

describe("compensations", () => {
  const undoes = { scope: "0#1", pathId: "0", version: 1 };

  it("are told apart from what they undo, whether they came to something or not", () => {
    const events = [
      done(1, "done", "0#1"),
      { ...failed(2, 9), undoes },
      { ...done(3, "undone"), undoes } as Event,
      { ...failed(4, null), undoes: { pathId: "0", version: 0 } },
    ];
    const { context, childStates, compensations } = restore({
      head,
      children: [["0#1", child({ status: "cancelled", kept: true })]],
      events,
    });
    expect(context).toEqual({});
    expect(outputs(childStates?.["0#1"]?.context)).toEqual({ inner: ["done"] });
    const common = { nodeId: "inner", timestamp: 5, attempt: 1 };
    expect(compensations).toEqual([
      { ...common, undoes, output: "undone", version: 3 },
      { ...common, undoes: { pathId: "0", version: 0 }, output: null, error: "no luck", version: 4 },
    ]);
  });
});

describe("restore, after every commit of every history", () => {
  it("gives the snapshot that the engine had", { timeout: 120_000 }, () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(seeds, dice, (seed, thrown) => {
        keptHistory(randomDefinition(seed), thrown, ({ workflow, draft, events, restored: whole, restoredFromCheckpoint }) => {
          const snapshot = closeDraft(draft);
          // a store does not know `keep` of the nodes, so the snapshots are compared after they are opened
          const opened = (given: Snapshot): Snapshot => closeDraft(openDraft(workflow, given));
          const restored = opened(whole);
          expectEqual(restored, snapshot);
          expectEqual(readSnapshot(JSON.parse(JSON.stringify(snapshot)), workflow), snapshot);
          expectEqual(orders(restored), orders(snapshot));
          expectEqual(restored, fold(workflow, events));
          expectEqual(opened(restoredFromCheckpoint), snapshot);
          expectEqual(orders(opened(restoredFromCheckpoint)), orders(snapshot));
          for (const what of [...oddities(restored), ...(events.at(-1)!.consequences?.results ? ["consequences"] : [])]) {
            seen.set(what, (seen.get(what) ?? 0) + 1);
          }
        });
      }),
      { numRuns: tries(600) },
    );
    // the random histories contained every case that matters
    for (const what of ["nested", "items", "open", "draining", "kept", "undone", "consequences", "referring", "input"])
      expect(seen.get(what), what).toBeGreaterThan(0);
  });
});

/** What is special about a snapshot. */
function oddities({ activePaths, childStates = {}, mapItems, compensations }: Snapshot): string[] {
  const is = {
    nested: Object.keys(childStates).some((key) => key.includes(">")),
    items: mapItems !== undefined,
    open: activePaths.some(({ children }) => children?.map?.open),
    draining: activePaths.some(({ draining }) => draining),
    kept: Object.values(childStates).some(({ kept }) => kept),
    undone: compensations !== undefined,
    referring: [activePaths, ...Object.values(childStates).map((child) => child.activePaths)]
      .flat()
      .some(({ waits, resumed }) => resumed?.inEvents?.suspendPayload ?? waits?.some(({ inEvents }) => inEvents?.payload)),
    input: Object.values(childStates).some(({ inEvents }) => inEvents?.input),
  };
  return Object.entries(is).flatMap(([what, holds]) => (holds ? [what] : []));
}

/** Returns the order of keys in the objects of a snapshot, which `expectEqual` does not compare: it must survive a load. */
function orders({ context, childStates = {}, mapItems = {} }: Snapshot): string[][] {
  const contexts = Object.values(childStates).map((child) => Object.keys(child.context));
  return [Object.keys(context), Object.keys(childStates), Object.keys(mapItems), ...contexts];
}
