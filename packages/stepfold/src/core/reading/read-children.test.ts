import { beforeAll, describe, expect, it } from "vitest";
import { changed, expectRefused } from "../../../test/core/changed.fixture.ts";
import { bench, flow } from "../../../test/nodes/workflow.fixture.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { readSnapshot } from "./read-snapshot.ts";

const item = flow("item", { first: "noop", ask: "approval", then: "noop" }, ["first>ask", "ask>then@approved"]);
const two = flow("two", { a: "noop", b: "noop" });
const root = flow(
  "root",
  { f: "noop", m: ["map", { workflow: "item", items: ["a", "b", "c"], concurrency: 1 }], s: ["workflow", { workflow: "item" }] },
  ["f>m", "f>s"],
  { workflows: { item, two } },
);
const { engine } = bench(root);
const { workflow } = engine;

/** A map with three items: one goes on, one is ready but has no place, one waits. Beside the map a sub-workflow waits. */
let running: Snapshot;
/** The same execution after the first item is done. */
let later: Snapshot;

beforeAll(async () => {
  let snapshot = await engine.execute({ workflowId: "w" });
  for (const i of [0, 1]) snapshot = await engine.send(snapshot, { type: "resume", target: `m[${i}]/ask`, payload: { approved: true } });
  running = snapshot;
  later = await engine.execute({ snapshot, stepLimit: 3 });
});

/** Returns the JSON pointer to an item of the map. */
const child = (i: number): string => `/childStates/0#2~1${i}`;

describe("a snapshot with children", () => {
  it("is given back as it was, whatever the order of its children: databases may sort them", () => {
    for (const snapshot of [running, later]) {
      expect(readSnapshot(changed(snapshot, {}), workflow)).toEqual(snapshot);
      const { childStates = {} } = snapshot;
      const turned = { ...snapshot, childStates: Object.fromEntries(Object.entries(childStates).reverse()) };
      expect(readSnapshot(changed(turned, {}), workflow)).toEqual(snapshot);
    }
    expect(later.activePaths[0]?.children?.map).toMatchObject({ done: 1, next: 3 });
  });

  it.each<[what: string, changes: Record<string, unknown>, pointer: string, reason: string]>([
    ["children that are no object", { "/childStates": [] }, "/childStates", "object"],
    ["a child that is no object", { [child(0)]: 5 }, child(0), "object"],
    ["a key of another kind", { "/childStates/0": {} }, "/childStates/0", "not the key"],
    ["an index that is written otherwise", { "/childStates/0#2~100": {} }, "/childStates/0#2~100", "not the key"],
    ["a key that says how", { "/childStates/0@2#1": {} }, "/childStates/0@2#1", "not the key"],
    ["a child in one that is not there", { "/childStates/0#9>0#1": {} }, "/childStates/0#9>0#1", "not in the snapshot"],
    ["a child without a workflow", { [`${child(0)}/workflow`]: undefined }, `${child(0)}/workflow`, "must name a workflow"],
    ["a child of an inherited workflow", { [`${child(0)}/workflow`]: "toString" }, `${child(0)}/workflow`, "must name a workflow"],
    ["a child without a version", { [`${child(0)}/version`]: undefined }, `${child(0)}/version`, "whole number"],
    ["a child of a later version", { [`${child(0)}/version`]: 99 }, `${child(0)}/version`, "up to 13"],
    ["a child without paths", { [`${child(0)}/activePaths`]: undefined }, `${child(0)}/activePaths`, "list"],
    ["a place in the queue that is no version", { [`${child(1)}/queued`]: "x" }, `${child(1)}/queued`, "whole number"],
    ["a place in the queue for one that waits", { [`${child(2)}/queued`]: 3 }, `${child(2)}/queued`, "that is ready"],
    ["a child that is kept though it is open", { [`${child(0)}/kept`]: true }, `${child(0)}/kept`, "that has ended"],
    ["a child that is kept perhaps", { [`${child(0)}/kept`]: "yes" }, `${child(0)}/kept`, "true"],
    ["an item that is missing", { [child(2)]: undefined }, "/activePaths/0/children/map/next", "must be 2"],
    ["a sub-workflow that is missing", { "/childStates/0.1#1": undefined }, "/activePaths/1/children", "one child"],
    ["items nobody waits for", { "/activePaths/0": undefined }, child(0), "no path that waits"],
    [
      "more places than are taken",
      { "/activePaths/0/children/map/concurrency": 2 },
      "/activePaths/0/children/map/concurrency",
      "items are waiting",
    ],
    ["fewer items than there are", { "/activePaths/0/children/map/next": 2 }, child(2), "begun before"],
    ["more items begun than there are", { "/activePaths/0/children/map/next": 4 }, "/activePaths/0/children/map/next", "0 to 3"],
    ["items done that are not", { "/activePaths/0/children/map/done": 1 }, "/activePaths/0/children/map/done", "must be 0"],
    ["more done than begun", { "/activePaths/0/children/map/done": 4 }, "/activePaths/0/children/map/total", "at least the number"],
    ["items failed that have not", { "/activePaths/0/children/map/failed": 1 }, "/activePaths/0/children/map/failed", "must be 0"],
    ["a count that is none", { "/activePaths/0/children/map/cancelled": -1 }, "/activePaths/0/children/map/cancelled", "whole"],
    ["no place at all", { "/activePaths/0/children/map/concurrency": 0 }, "/activePaths/0/children/map/concurrency", "of at least 1"],
    [
      "failures tolerated that are no number",
      { "/activePaths/0/children/map/tolerated": "all" },
      "/activePaths/0/children/map/tolerated",
      "number",
    ],
    [
      "an unknown end of the rest",
      { "/activePaths/0/children/map/remaining": "wait" },
      "/activePaths/0/children/map/remaining",
      "finish or cancel",
    ],
    ["an end that is no number", { "/activePaths/0/children/map/completeWhen": "3" }, "/activePaths/0/children/map/completeWhen", "whole"],
    ["a map that is open perhaps", { "/activePaths/0/children/map/open": false }, "/activePaths/0/children/map/open", "true"],
    ["a map that is none", { "/activePaths/0/children/map": 5 }, "/activePaths/0/children/map", "object"],
    ["a map without a map", { "/activePaths/0/children/map": undefined }, child(0), "not an item"],
    [
      "a sub-workflow with a place in a queue",
      { "/childStates/0.1#1/queued": 3, "/childStates/0.1#1/status": "active" },
      "/childStates/0.1#1/queued",
      "for an item of a map",
    ],
    ["children that are no object", { "/activePaths/0/children": [] }, "/activePaths/0/children", "object"],
    ["children of another visit", { "/activePaths/0/children/key": "0#1" }, "/activePaths/0/children/key", 'the key of a path: "0#2"'],
    ["children of an unknown workflow", { "/activePaths/0/children/workflow": "none" }, "/activePaths/0/children/workflow", "must name"],
    [
      "children that could begin anywhere",
      { "/activePaths/0/children/workflow": "two" },
      "/activePaths/0/children/workflow",
      "one first node",
    ],
    ["children of a path that goes on", { "/activePaths/0/status": "ready" }, "/activePaths/0/children", "waits for them"],
    [
      "a path that drains no children",
      { "/childStates/0.1#1/activePaths/0/draining": true },
      "/childStates/0.1#1/activePaths/0/draining",
      'together with "children"',
    ],
    [
      "a path that drains children by a wrong name",
      { "/activePaths/0/draining": true, "/activePaths/0/children/key": "0" },
      "/activePaths/0/children/key",
      "key of a path",
    ],
    [
      "children that will begin again",
      { "/activePaths/1/draining": true, "/activePaths/1/children/key": "0#9" },
      "/activePaths/1/children/key",
      "may give",
    ],
    ["items that are no object", { "/mapItems": [] }, "/mapItems", "object"],
    ["no items", { "/mapItems": undefined }, "/mapItems/0#2", "list of 3 items"],
    ["too few items", { "/mapItems/0#2": ["a"] }, "/mapItems/0#2", "list of 3 items"],
    ["items of no map", { "/mapItems/0.1#1": ["a"] }, "/mapItems/0.1#1", "no map"],
    ["a status that is not that of its paths", { "/childStates/0.1#1/status": "error" }, "/childStates/0.1#1/status", 'must be "paused"'],
    ["a status that is not that of its children", { "/status": "paused" }, "/status", 'must be "active"'],
  ])("is refused with %s", (_, changes, pointer, reason) => {
    expectRefused(workflow, running, changes, pointer, reason);
  });

  it("is refused with a child of another workflow than its path says", () => {
    expectRefused(workflow, later, { [`${child(0)}/workflow`]: "two" }, `${child(0)}/workflow`, 'must be "item"');
  });

  it("may have children that nobody waits for any more, and that only come to their end", () => {
    const draining = { "/activePaths/0/draining": true, "/activePaths/1/draining": true };
    expect(readSnapshot(changed(running, draining), workflow).activePaths.map((path) => path.draining)).toEqual([true, true]);
    // the children of ended items are deleted, and the list still has an item that never began
    const map = { ...running.activePaths[0]!.children!.map!, total: 3, cancelled: 1 };
    const early = { ...draining, "/activePaths/0/children/map": map, "/mapItems/0#2": ["a", "b", "c", "d"], [child(2)]: undefined };
    expect(readSnapshot(changed(running, early), workflow).mapItems?.["0#2"]).toHaveLength(4);
    const fewer = { ...early, "/activePaths/0/children/map": { ...map, cancelled: 0 } };
    expectRefused(workflow, running, fewer, "/activePaths/0/children/map/next", "must be 2");
    expectRefused(workflow, running, { "/mapItems/0#2": ["a", "b", "c", "d"] }, "/mapItems/0#2", "list of 3 items");
  });

  it("is refused with two paths that wait for the same children", () => {
    const other = { ...running.activePaths[0]!, id: "9", turn: 9, draining: true };
    expectRefused(workflow, running, { "/activePaths/2": other }, "/activePaths/2/children/key", "two paths");
  });

  it("is refused with children that lie deeper than any limit lets them", () => {
    const keys = Array.from({ length: 501 }, (_, i) => Array.from({ length: i + 1 }, () => "0#1").join(">"));
    const childStates = Object.fromEntries(keys.map((key) => [key, { workflow: "item" }]));
    expectRefused(workflow, running, { "/childStates": childStates }, `/childStates/${keys[500]}`, "too deep");
  });

  it("that has ended is refused, and one whose map is complete", async () => {
    const over = await engine.send(running, { type: "cancel" });
    const kept = { ...running.childStates!["0.1#1"]!, status: "completed", activePaths: [], kept: true, version: 1 };
    expectRefused(workflow, over, { "/childStates": { "0#2": kept } }, "/childStates/0#2", "is not kept");
    const done = { ...kept, kept: undefined };
    const map = { ...running.activePaths[0]!.children!.map, done: 3 };
    const childStates = { "0.1#1": running.childStates!["0.1#1"], "0#2/0": done, "0#2/1": done, "0#2/2": done };
    expectRefused(
      workflow,
      running,
      { "/childStates": childStates, "/activePaths/0/children/map": map, "/status": "paused" },
      "/activePaths/0/children/map",
      "nothing left",
    );
  });
});

describe("a snapshot with items that were cancelled before their turn", () => {
  const long = flow("long", { one: "noop", two: "noop" }, ["one>two"]);
  const { engine: queueing } = bench(
    flow("root", { f: "noop", m: ["map", { workflow: "long", items: [1, 2, 3, 4], concurrency: 1 }], own: "approval" }, ["f>m", "f>own"], {
      workflows: { long },
    }),
  );
  const skipped = async (): Promise<Snapshot> => {
    const begun = await queueing.execute({ workflowId: "w", stepLimit: 2 });
    return queueing.send(begun, { type: "cancel", target: { node: "m", item: 2 } });
  };

  it("is given back as it was, and goes on without them", async () => {
    const snapshot = await skipped();
    expect(snapshot.activePaths[0]?.children?.map).toMatchObject({ next: 1, cancelled: 1 });
    const read = readSnapshot(changed(snapshot, {}), queueing.workflow);
    expect(read).toEqual(snapshot);
    const over = await queueing.execute({ snapshot: changed(read, {}) as object });
    expect(over.context.m?.[0]?.output).toEqual([1, 2, null, 4]);
  });

  it("is refused where one of them is anything but cancelled", async () => {
    const snapshot = await skipped();
    for (const status of ["completed", "failed"])
      expectRefused(queueing.workflow, snapshot, { [`${child(2)}/status`]: status }, child(2), "begun before");
  });

  it("does not keep them once the map goes on early", async () => {
    const early = await queueing.send(await skipped(), { type: "completeMap", node: "m" });
    expect(Object.keys(early.childStates ?? {})).toEqual([]);
    expect(readSnapshot(changed(early, {}), queueing.workflow)).toEqual(early);
  });
});
