import { beforeEach, describe, expect, it } from "vitest";
import { readSnapshot } from "../../src/core/reading/read-snapshot.ts";
import { addressOf, pathsOf } from "../../src/core/snapshot/address.ts";
import type { Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { wakeAt } from "../../src/core/transition/draft/draft-status.ts";
import { openDraft } from "../../src/core/transition/draft/open-draft.ts";
import { earliestOf, plan } from "../../src/core/transition/plan.ts";
import { WorkflowEngine } from "../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { VirtualEnvironment } from "../engine/virtual-environment.fixture.ts";
import { bench, flow } from "../nodes/workflow.fixture.ts";
import { changed } from "./changed.fixture.ts";

const hour = 3_600_000;
const start = 1_000_000;

describe("waits of children", () => {
  const item = flow("item", { ask: ["approval", { timeout: "{{ input }}" }], late: "noop" }, ["ask>late@timeout"]);
  const root = flow(
    "root",
    { f: "noop", each: ["map", { workflow: "item", items: ["3h", "1h", "2h"] }], own: ["approval", { timeout: "90m" }], over: "noop" },
    ["f>each", "f>own", "own>over@timeout"],
    { workflows: { item } },
  );
  const { engine, clock } = bench(root);
  let waiting: Snapshot;
  beforeEach(async () => {
    clock.set(start);
    waiting = await engine.execute({ workflowId: "w" });
  });

  it("time out in the order of their times, whichever child they are in", async () => {
    clock.set(start + 4 * hour);
    const order: (string | undefined)[] = [];
    for await (const { event } of engine.stream({ snapshot: waiting }))
      if (event.type === "timedOut") order.push(event.scope ?? event.nodeId);
    expect(order).toEqual(["0#2/1", "own", "0#2/2", "0#2/0"]);
  });

  it("are left alone until their time, each by itself", async () => {
    clock.set(start + hour);
    const later = await engine.execute({ snapshot: waiting });
    expect(later.activePaths[0]?.children?.map).toMatchObject({ done: 1, next: 3 });
    expect(later.status).toBe("paused");
    clock.set(start + 2 * hour);
    expect((await engine.execute({ snapshot: later })).activePaths.map(({ nodeId }) => nodeId)).toEqual(["each"]);
  });

  it("say when the execution must be driven next: at the earliest of all", async () => {
    expect(wakeAt(openDraft(engine.workflow, waiting))).toBe(start + hour);
    const answered = await engine.send(waiting, { type: "resume", target: "each[1]/ask", payload: { approved: true } });
    expect(wakeAt(openDraft(engine.workflow, answered))).toBe(0);
    expect(wakeAt(openDraft(engine.workflow, await engine.execute({ snapshot: answered })))).toBe(start + 1.5 * hour);
    expect(wakeAt(openDraft(engine.workflow, await engine.send(waiting, { type: "cancel" })))).toBeNull();
  });
});

describe("retries of children", () => {
  const retryPolicy = { maxAttempts: 3, interval: "{{ input.after }}", backoff: "fixed" };
  const made = flow("c", { try: "busy" }) as { nodes: object[] };
  const c = { ...made, nodes: [{ ...made.nodes[0], retryPolicy }] };
  const busy = {
    executor: (): never => {
      throw new TypeError("busy");
    },
  };
  const root = flow(
    "root",
    {
      f: "noop",
      slow: ["workflow", { workflow: "c", input: { after: "5s" } }],
      quick: ["workflow", { workflow: "c", input: { after: "2s" } }],
      own: "noop",
    },
    ["f>slow", "f>quick", "f>own"],
    { workflows: { c } },
  );

  it("come in the order of their times; asked before, the execution makes the earliest", async () => {
    const clock = new VirtualEnvironment();
    const engine = new WorkflowEngine({ workflow: root, nodeDefinitions: { ...builtinNodes, busy }, environment: clock });
    const failed = await engine.execute({ workflowId: "w" });
    expect(failed.status).toBe("error");
    expect(failed.retryState).toMatchObject({ nodeId: "try", nextRetryAt: clock.now() + 2_000 });
    const draft = openDraft(engine.workflow, failed);
    expect(earliestOf(draft)).toBe("0.1#1>0@2");
    expect(wakeAt(draft)).toBe(clock.now() + 2_000);
    expect(plan(failed, clock.now() + 3_000).map(({ scope, attempt }) => [scope, attempt])).toEqual([["0.1#1", 2]]);
    // a retry without a time is due at once
    const timeless = changed(failed, { "/childStates/0#2/activePaths/0/nextRetryAt": undefined });
    expect(earliestOf(openDraft(engine.workflow, readSnapshot(timeless, engine.workflow)))).toBe("0#2>0@2");
    const both = changed(readSnapshot(timeless, engine.workflow), { "/childStates/0.1#1/activePaths/0/nextRetryAt": undefined });
    expect(earliestOf(openDraft(engine.workflow, readSnapshot(both, engine.workflow)))).toBe("0#2>0@2");
    const again = await engine.execute({ snapshot: failed });
    expect(again.childStates?.["0.1#1"]?.activePaths[0]?.attempts).toBe(2);
    expect(again.childStates?.["0#2"]?.activePaths[0]?.attempts).toBe(1);
  });
});

describe("children that have no place", () => {
  const item = flow("item", { ask: "approval", then: "noop" }, ["ask>then@approved"]);
  const { engine } = bench(flow("root", { m: ["map", { workflow: "item", items: [1, 2], concurrency: 1 }] }, [], { workflows: { item } }));

  it("have no task until they get one", async () => {
    let snapshot = await engine.execute({ workflowId: "w" });
    for (const i of [1, 0]) snapshot = await engine.send(snapshot, { type: "resume", target: `m[${i}]/ask`, payload: { approved: true } });
    expect(plan(snapshot, 0).map(({ scope, nodeId }) => [scope, nodeId])).toEqual([["0#1/1", "ask"]]);
    expect(wakeAt(openDraft(engine.workflow, snapshot))).toBe(0);
    expect((await engine.execute({ snapshot })).status).toBe("completed");
  });
});

describe("children of children that have no place", () => {
  const inner = flow("inner", { ask: "approval" });
  const item = flow("item", { sub: ["workflow", { workflow: "inner" }], then: "approval" }, ["sub>then"]);
  const { engine } = bench(
    flow("root", { f: "noop", m: ["map", { workflow: "item", items: [1, 2], concurrency: 1 }], own: "approval" }, ["f>m", "f>own"], {
      workflows: { item, inner },
    }),
  );
  const approve = (snapshot: Snapshot, target: string): Promise<Snapshot> =>
    engine.send(snapshot, { type: "resume", target, payload: { approved: true } });

  it("have none either", async () => {
    let snapshot = await engine.execute({ workflowId: "w" });
    for (const i of [1, 0]) snapshot = await approve(snapshot, `m[${i}]/sub/ask`);
    expect(snapshot.childStates?.["0#2/0"]?.queued).toBe(snapshot.version);
    expect(plan(snapshot, 0).map(({ scope }) => scope)).toEqual(["0#2/1>0#1"]);
    expect(wakeAt(openDraft(engine.workflow, snapshot))).toBe(0);
    const beside = await approve(snapshot, "own");
    expect(plan(beside, 0).map(({ scope }) => scope)).toEqual([undefined, "0#2/1>0#1"]);
    expect(wakeAt(openDraft(engine.workflow, beside))).toBe(0);
    const stepped = await engine.execute({ snapshot, stepLimit: 2 });
    expect(stepped.childStates?.["0#2/0"]).not.toHaveProperty("queued");
    expect(plan(stepped, 0).map(({ scope }) => scope)).toEqual(["0#2/0>0#1"]);
  });
});

describe("a retry in an item that has no place", () => {
  const retryPolicy = (interval: string): object => ({ retryPolicy: { maxAttempts: 9, interval, backoff: "fixed" } });
  const retrying = (made: object, id: string, interval: string): object => {
    const { nodes } = made as { nodes: { id: string }[] };
    return { ...made, nodes: nodes.map((node) => (node.id === id ? { ...node, ...retryPolicy(interval) } : node)) };
  };
  const inner = retrying(flow("inner", { ask: ["approval", { timeout: "{{ input }}" }], try: "busy" }, ["ask>try@approved"]), "try", "10s");
  const middle = retrying(flow("middle", { part: ["workflow", { workflow: "inner", input: "{{ input }}" }] }), "part", "1s");
  const item = flow("item", { sub: ["workflow", { workflow: "middle", input: "{{ input }}" }] });
  const root = flow("root", { m: ["map", { workflow: "item", items: ["9h", "1h"], concurrency: 1 }] }, [], {
    workflows: { item, middle, inner },
  });
  const busy = {
    executor: (): never => {
      throw new TypeError("busy");
    },
  };

  it("does not stand in the way of another retry that the caller makes at once", async () => {
    const clock = new VirtualEnvironment();
    const engine = new WorkflowEngine({ workflow: root, nodeDefinitions: { ...builtinNodes, busy }, environment: clock });
    const waiting = await engine.execute({ workflowId: "w" });
    const answered = await engine.send(waiting, { type: "resume", target: "m[0]/sub/part/ask", payload: { approved: true } });
    clock.set(clock.now() + hour);
    const failed = await engine.execute({ snapshot: answered });
    // the second item is to be retried first, but it waits for the place of the first item
    expect(failed.childStates).toMatchObject({
      "0#1/1": { queued: expect.any(Number) },
      "0#1/1>0#1": { activePaths: [{ nodeId: "part", nextRetryAt: clock.now() + 1_000 }] },
    });
    const movable = ({ childStates }: Snapshot) => childStates?.["0#1/0>0#1>0#1"]?.activePaths[0];
    expect(movable(failed)).toMatchObject({ status: "retrying", attempts: 1 });
    expect(movable(await engine.execute({ snapshot: failed }))?.attempts).toBe(2);
    const asked = await engine.send(failed, { type: "retry" });
    expect(movable(asked)?.status).toBe("ready");
    // if there is no other retry, it is made as soon as its item has a place
    expect((await engine.send(asked, { type: "retry" })).childStates?.["0#1/1>0#1"]?.activePaths).toMatchObject([{ status: "ready" }]);
  });
});

describe("the address of a child whose path has gone on", () => {
  it("does not say what it was called by", () => {
    const gone = { activePaths: [] };
    expect(addressOf(gone, "0#1/3", "pay")).toBe("?[3]/pay");
    expect(addressOf(gone, "0#1>0#2", "pay")).toBe("?/?/pay");
    expect(pathsOf(gone, "0#1")).toEqual([]);
  });
});
