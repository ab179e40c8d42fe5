import { describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { FatalError } from "../../../src/engine/node/fatal-error.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { createRuntime } from "../../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { viaJson } from "../engine.fixture.ts";

/** The keys under which steps have acted, and those that their compensations were told, in the order of the calls. */
const acted: string[] = [];
const told: (string | undefined)[] = [];
/** The keys under which compensations act. */
const undoing: string[] = [];
let isBroken = true;

const nodeDefinitions = {
  ...builtinNodes,
  pay: defineNode({
    executor: (_data, step) => {
      acted.push(step.idempotencyKey);
      return { data: "paid" };
    },
  }),
  lost: defineNode({
    executor: (_data, step) => {
      acted.push(step.idempotencyKey);
      if (isBroken) throw new FatalError("no answer");
      return { data: "paid" };
    },
  }),
  ask: defineNode({
    executor: (data, step) => {
      acted.push(step.idempotencyKey);
      return step.resumed ? { data } : step.suspend();
    },
  }),
  refund: defineNode({
    executor: (_data, step) => {
      told.push(step.compensating?.idempotencyKey);
      undoing.push(step.idempotencyKey);
      return { data: null };
    },
  }),
};

type Steps = Parameters<typeof flow>[1];

/** A workflow in which the nodes called `p...` can be undone. */
function paying(id: string, steps: object, edges: readonly string[], more: object = {}): object {
  const made = flow(id, steps as Steps, edges, more) as { nodes: { id: string }[] };
  return { ...made, nodes: made.nodes.map((node) => (node.id.startsWith("p") ? { ...node, compensate: { type: "refund" } } : node)) };
}

function setUp(...workflows: readonly object[]) {
  for (const list of [acted, told, undoing]) list.length = 0;
  isBroken = true;
  const environment = virtualEnvironment();
  const store = memoryStore({ now: () => environment.now() });
  const runtime = createRuntime({ store, environment, workflows: workflows as never, nodeDefinitions });
  return { environment, store, runtime };
}

const no = ["fail", { message: "no" }] as const;

describe("the key that a compensation is told", () => {
  it("is that of the step, completed or not, in every visit", async () => {
    const workflow = paying("w", { p0: "pay", p1: "lost", p2: "lost", no }, ["p0>p1", "p1>p2@error", "p2>no@error"]);
    const { runtime, environment } = setUp(workflow);
    const run = await runtime.start("w", { workflowId: "o-1" });
    await environment.advance(100);
    expect((await run.snapshot()).status).toBe("failed");
    expect(acted).toEqual(["o-1/0#1", "o-1/0#2", "o-1/0#3"]);
    expect(told).toEqual(["o-1/0#3", "o-1/0#2", "o-1/0#1"]);
    expect(new Set(undoing).size).toBe(3);
    await runtime.close();
  });

  it("is that of the step if the execution is cancelled while it waits, or with a tenant", async () => {
    const { runtime, environment } = setUp(paying("w", { s: "noop", p: "ask" }, ["s>p"]));
    for (const tenant of [undefined, "acme"]) {
      const run = await runtime.start("w", { workflowId: `o-${tenant}`, ...(tenant !== undefined && { tenant }) });
      await environment.advance(100);
      await run.cancel();
      await environment.advance(100);
    }
    expect(acted).toEqual(["o-undefined/0#2", '"acme"/o-acme/0#2']);
    expect(told).toEqual(acted);
    await runtime.close();
  });

  it("is that of the step in sub-workflows and items of maps, and of the node that begins them", async () => {
    const inner = paying("inner", { p: "pay", q: "noop" }, ["p>q"]);
    const steps = {
      s: "noop",
      one: ["workflow", { workflow: "inner" }],
      m: ["map", { items: [1, 2], workflow: "inner" }],
      pm: ["workflow", { workflow: "plain" }],
      no,
    };
    const plain = flow("plain", { q: "noop" }, []);
    const workflow = paying("w", steps, ["s>one", "one>m", "m>pm", "pm>no"], { workflows: { inner, plain } });
    const { runtime, environment } = setUp(workflow);
    const run = await runtime.start("w", { workflowId: "o" });
    await environment.advance(100);
    expect((await run.snapshot()).status).toBe("failed");
    expect(acted).toEqual(["o/0#2>0#1", "o/0#4/0>0#1", "o/0#4/1>0#1"]);
    expect(told).toEqual(["o/0#6", ...acted.toReversed()]);
    await runtime.close();
  });

  it("is the new one after a restart with new keys, and the old one if the step has not begun again", async () => {
    const { runtime, environment } = setUp(paying("w", { p: "lost", no }, ["p>no"]));
    const run = await runtime.start("w", { workflowId: "o" });
    await environment.advance(100);
    expect([acted.splice(0), told.splice(0)]).toEqual([["o/0#1"], ["o/0#1"]]);
    await run.restart({ keys: "new", compensated: "again" });
    await environment.advance(100);
    expect(told.splice(0)).toEqual(acted.splice(0));
    isBroken = false;
    await run.restart({ keys: "new", compensated: "again" });
    await environment.advance(100);
    expect(acted).toHaveLength(1);
    expect(acted[0]).not.toBe("o/0#1");
    expect(told).toEqual(acted);
    await runtime.close();
  });

  it("is a new one in every item of a map that had begun before a restart, also after two", async () => {
    const inner = paying("inner", { p: "pay", p1: "pay", p2: "pay" }, ["p>p1", "p>p2"]);
    const steps = { m: ["map", { items: [1, 2, 3], workflow: "inner", concurrency: 1 }], no };
    const { runtime, environment } = setUp(paying("w", steps, ["m>no"], { workflows: { inner } }));
    const run = await runtime.start("w", { workflowId: "o" });
    await environment.advance(100);
    for (const _ of [1, 2]) {
      await run.restart({ compensated: "again" });
      await environment.advance(100);
    }
    expect([acted.length, new Set(acted).size]).toEqual([27, 27]);
    expect(new Set(told)).toEqual(new Set(acted));
    await runtime.close();
  });

  it("is raised in a map that is read from JSON, by a number that is at least 0", async () => {
    const inner = flow("inner", { q: "ask" } as Steps, []);
    const map = ["map", { items: [1, 2], workflow: "inner", concurrency: 1 }] as const;
    const workflow = flow("w", { m: map } as Steps, [], { workflows: { inner } });
    const engine = new WorkflowEngine({ workflow: workflow as never, nodeDefinitions });
    const waiting = viaJson(await engine.execute({ workflowId: "o" }));
    const raisedBy = (ahead: number): Snapshot => {
      const [path] = waiting.activePaths;
      const { children } = path!;
      return { ...waiting, activePaths: [{ ...path!, children: { ...children!, map: { ...children!.map!, ahead } } }] };
    };
    expect(await engine.execute({ snapshot: raisedBy(4) })).toMatchObject({ activePaths: [{ children: { map: { ahead: 4 } } }] });
    await expect(engine.execute({ snapshot: raisedBy(-1) })).rejects.toThrow(/map\/ahead/);
  });

  it("is a new one beside a sub-workflow that goes on, and whose answer still finds it", async () => {
    const inner = flow("inner", { q: "ask" } as Steps, []);
    const steps = { s: "noop", one: ["workflow", { workflow: "inner" }], t: ["wait", { for: 10 }], p: "pay", no };
    const workflow = paying("w", steps, ["s>one", "s>t", "t>p", "p>no"], { workflows: { inner } });
    const { runtime, environment } = setUp(workflow);
    const run = await runtime.start("w", { workflowId: "o" });
    await environment.advance(100);
    const before = acted.length;
    await run.restart({ compensated: "again" });
    const { childStates = {} } = await run.snapshot();
    await run.resume({ step: "one/q", payload: 1 });
    await environment.advance(100);
    expect(Object.values(childStates).map(({ status }) => status)).not.toContain("failed");
    expect([before, new Set(acted).size]).toEqual([2, acted.length]);
    await runtime.close();
  });

  it("is that of the execution which has acted, after a fork and a fork of it", async () => {
    const workflow = paying("w", { p0: "pay", p1: "ask", p2: "pay", q: "ask", no }, ["p0>p1", "p1>p2", "p2>q", "q>no"]);
    const { runtime, environment } = setUp(workflow);
    const run = await runtime.start("w", { workflowId: "o" });
    await environment.advance(100);
    const fork = await run.fork({ workflowId: "f" });
    await environment.advance(100);
    // the fork takes over a step that waits, and cancels it before it was called again
    await fork.cancel();
    await environment.advance(100);
    expect(told.splice(0)).toEqual(["o/0#2", "o/0#1"]);
    const other = await run.fork({ workflowId: "g" });
    await other.resume();
    await environment.advance(100);
    const last = await other.fork({ workflowId: "h" });
    await last.resume();
    await environment.advance(100);
    expect((await last.snapshot()).status).toBe("failed");
    expect(acted.filter((key) => key.startsWith("g"))).toEqual(["g/0#2", "g/0#5", "g/0#6"]);
    expect(told).toEqual(["g/0#5", "g/0#2", "o/0#1"]);
    await runtime.close();
  });

  it("is the one in the fork for a step that was called before a fork and in it", async () => {
    const { runtime, environment } = setUp(paying("w", { p: "ask", q: "noop" }, ["p>q"]));
    const run = await runtime.start("w", { workflowId: "o" });
    await environment.advance(100);
    const fork = await run.fork({ workflowId: "f", node: "p" });
    await environment.advance(100);
    await fork.cancel();
    await environment.advance(100);
    expect(told).toEqual(["f/0#1"]);
    await run.cancel();
    await environment.advance(100);
    expect(told).toEqual(["f/0#1", "o/0#1"]);
    await runtime.close();
  });

  it("is absent for steps of a snapshot that does not tell it, and is told by one that does", async () => {
    for (const list of [acted, told, undoing]) list.length = 0;
    const workflow = paying("w", { p0: "pay", p1: "ask", q: "noop" }, ["p0>p1", "p1>q"]);
    const engine = new WorkflowEngine({ workflow: workflow as never, nodeDefinitions });
    const waiting = viaJson(await engine.execute({ workflowId: "o" }));
    const cancel = async (snapshot: Snapshot): Promise<Snapshot> =>
      engine.execute({ snapshot: await engine.send(snapshot, { type: "cancel" }) });
    const [result] = waiting.context.p0!;
    const { acted: _, ...older } = result!;
    await cancel({ ...waiting, context: { p0: [older] } });
    expect(told.splice(0)).toEqual(["o/0#2", undefined]);
    await cancel(waiting);
    expect(told).toEqual(["o/0#2", "o/0#1"]);
  });

  it("is told once, also if the step was noted before, as after a restart under the same keys", async () => {
    for (const list of [acted, told, undoing]) list.length = 0;
    const workflow = paying("w", { p: "ask", q: "noop" }, ["p>q"]);
    const engine = new WorkflowEngine({ workflow: workflow as never, nodeDefinitions });
    const waiting = viaJson(await engine.execute({ workflowId: "o" }));
    const noted = { ...waiting, begun: [{ pathId: "0", nodeId: "p", acted: { visit: 1 } }] };
    await engine.execute({ snapshot: await engine.send(noted, { type: "cancel" }) });
    expect(told).toEqual(["o/0#1"]);
  });

  it("costs nothing where nothing can be undone", async () => {
    const workflow = flow("w", { a: "pay", b: "ask" } as Steps, ["a>b"]);
    const engine = new WorkflowEngine({ workflow: workflow as never, nodeDefinitions });
    expect(JSON.stringify(await engine.execute({ workflowId: "o" }))).not.toContain("acted");
    const { runtime, store, environment } = setUp(workflow);
    await runtime.start("w", { workflowId: "o" });
    await environment.advance(100);
    expect(JSON.stringify(await store.events("o", -1, 10))).not.toMatch(/acted|visit/);
    await runtime.close();
  });
});
