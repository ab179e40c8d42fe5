import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { RuntimeOptions } from "../../../src/runtime/context/runtime-options.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, dyingInCommit, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const nodes = {
  ...builtinNodes,
  odd: defineNode({ executor: (data: { continueAs: unknown }) => ({ continueAs: data.continueAs }) as never }),
  /** A node that adds the payload of a signal to the count, and goes on with the sum until the sum is 100. */
  count: defineNode({
    executor: (_data: unknown, step) => {
      const { count } = step.input as { count: number };
      if (!step.resumed) return step.suspend(null, { signal: "tick" });
      const next = count + Number(step.resumed.payload);
      if (next >= 100) return { data: next };
      return { continueAs: { input: { count: next } } };
    },
  }),
};
const counting = {
  id: "counting",
  input: { type: "object", properties: { count: { type: "number" } }, required: ["count"] },
  output: "{{ nodes.count.last.data }}",
  nodes: [
    { id: "count", type: "count" },
    { id: "aside", type: "wait", data: { for: "1d" } },
    { id: "both", type: "noop" },
  ],
  edges: [
    { source: "both", target: "count" },
    { source: "both", target: "aside" },
  ],
  start: "both",
};
const byNode = {
  id: "by-node",
  nodes: [
    { id: "enough", type: "if", data: { condition: "{{ input.round >= 3 }}" } },
    { id: "done", type: "end", data: { output: "{{ input.round }}" } },
    { id: "again", type: "end", data: { continueAs: { input: { round: "{{ input.round + 1 }}" } } } },
  ],
  edges: [
    { source: "enough", target: "done", sourceHandle: "true" },
    { source: "enough", target: "again", sourceHandle: "false" },
  ],
};
const parent = {
  id: "parent",
  nodes: [
    { id: "child", type: "workflow", data: { workflow: "by-node", detached: true, input: { round: 1 } } },
    { id: "after", type: "set", data: "{{ nodes.child.last.data }}" },
  ],
  edges: [{ source: "child", target: "after" }],
};
const inner = {
  id: "inner",
  nodes: [{ id: "w", type: "workflow", data: { workflow: "again" } }],
  edges: [],
  workflows: { again: { id: "again", nodes: [{ id: "e", type: "end", data: { continueAs: {} } }], edges: [] } },
};
const odd = (id: string, continueAs: unknown) => ({ id, nodes: [{ id: "odd", type: "odd", data: { continueAs } }], edges: [] });
const failing = {
  id: "wrong",
  input: { type: "number" },
  nodes: [{ id: "e", type: "end", data: { continueAs: { input: "text" } } }],
  edges: [],
};

const calling = {
  id: "calling",
  start: "both",
  nodes: [
    { id: "both", type: "noop" },
    { id: "child", type: "workflow", data: { workflow: "patient", detached: true } },
    { id: "on", type: "signal", data: { name: "on" } },
    { id: "again", type: "end", data: { continueAs: { input: "{{ input }}" } } },
  ],
  edges: [
    { source: "both", target: "child" },
    { source: "both", target: "on" },
    { source: "on", target: "again" },
  ],
};
const patient = { id: "patient", nodes: [{ id: "w", type: "wait", data: { for: "9d" } }], edges: [] };
const leaf = { id: "leaf", nodes: [{ id: "n", type: "noop" }], edges: [] };
const spreading = {
  id: "spreading",
  nodes: [
    { id: "start", type: "workflow", data: { workflow: "leaf", detached: true, wait: false } },
    { id: "again", type: "end", data: { continueAs: {} } },
  ],
  edges: [{ source: "start", target: "again" }],
};
const endless = { id: "endless", nodes: [{ id: "again", type: "end", data: { continueAs: {} } }], edges: [] };

function living(given?: SnapshotStore, more: Partial<RuntimeOptions> = {}) {
  const environment = virtualEnvironment();
  const store = given ?? memoryStore({ now: () => environment.now() });
  const problems: string[] = [];
  const workflows = [
    counting,
    byNode,
    parent,
    inner,
    failing,
    odd("number", 5),
    odd("more", { input: 1, workflow: "other" }),
    odd("none", null),
    ...[calling, patient, leaf, spreading, endless],
  ] as never;
  const onProblem = (workflowId: string | null, error: unknown): void =>
    void problems.push(`${workflowId} ${(error as { code: string }).code}`);
  const { runtime } = setUp({ store, nodeDefinitions: nodes as never, workflows, onProblem, ...more }, environment);
  return { environment, store, runtime, problems };
}

describe("continueAs", () => {
  it("begins the next run of the same execution, with this input, its metadata and no results", async () => {
    const { runtime, environment, store } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 0 }, metadata: { of: "ann" }, tenant: "acme" });
    await environment.settle();
    const first = await run.snapshot();
    await run.signal("tick", 1);
    await environment.settle();
    const second = await run.snapshot();
    expect(second).toMatchObject({ status: "paused", input: { count: 1 }, metadata: { of: "ann" }, tenant: "acme", steps: 3 });
    expect(second).toMatchObject({ workflowId: "c", incarnation: first.incarnation, createdAt: first.createdAt, run: { number: 2 } });
    expect(Object.keys(second.context)).toEqual(["both"]);
    const types = (await store.events("c", -1, 20)).map(({ event }) => event.type);
    expect(types).toEqual([
      "started",
      "completed",
      "suspended",
      "suspended",
      "signalled",
      "continued",
      "completed",
      "suspended",
      "suspended",
    ]);
    expect((await store.list()).items).toHaveLength(1);
  });

  it("gives each run other ids of waits and other idempotency keys", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 0 } });
    const seen = new Set<string>();
    for (let count = 1; count <= 4; count++) {
      await environment.settle();
      const waits = await run.waits();
      for (const { id } of waits) expect(seen).not.toContain(id);
      for (const { id } of waits) seen.add(id);
      await run.signal("tick", 1);
    }
    expect(seen.size).toBe(8);
  });

  it("takes over signals that no step has waited for, and drops those that have expired", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 0 } });
    await environment.settle();
    const long = { text: "x".repeat(5_000) };
    await run.signal("other", long);
    await run.signal("short", 1, { ttl: "1s" });
    await environment.advance(2_000);
    for (let times = 0; times < 2; times++) {
      await run.signal("tick", 1);
      await environment.settle();
    }
    const { inbox, run: present } = await run.snapshot();
    expect([inbox?.length, present?.number]).toEqual([1, 3]);
    expect(inbox).toMatchObject([{ name: "other", payload: long }]);
  });

  it("takes each signal once, by the same id, and remembers its key over runs", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 90 } });
    await environment.settle();
    for (let count = 0; count < 9; count++) {
      const twice = [run.signal("tick", 1, { idempotencyKey: `k${count}` }), run.signal("tick", 1, { idempotencyKey: `k${count}` })];
      expect((await Promise.all(twice)).map(({ applied }) => applied).sort()).toEqual([false, true]);
      await environment.settle();
    }
    expect(await run.signal("tick", 1, { idempotencyKey: "k0" })).toEqual({ applied: false });
    expect(await run.snapshot()).toMatchObject({ input: { count: 99 }, run: { number: 10 } });
    await run.signal("tick", 1);
    await environment.advance(86_400_000);
    expect(await run.result()).toBe(100);
    await expect(run.signal("tick", 1)).rejects.toMatchObject({ code: "EXECUTION_ENDED", details: { workflowId: "c" } });
  });

  it("refuses an answer to a wait of an earlier run", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 0 } });
    await environment.settle();
    const [wait] = await run.waits();
    await run.signal("tick", 1);
    await environment.settle();
    await expect(run.resume({ waitId: wait!.id, payload: 1 })).rejects.toMatchObject({ code: "WAIT_GONE" });
  });

  it("keeps its id for a start with the first input", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 0 } });
    await environment.settle();
    await run.signal("tick", 1);
    await environment.settle();
    expect((await runtime.start("counting", { workflowId: "c", input: { count: 0 } })).workflowId).toBe("c");
    await expect(runtime.start("counting", { workflowId: "c", input: { count: 1 } })).rejects.toMatchObject({ code: "START_CONFLICT" });
  });

  it("is said by an end node, any number of times", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("by-node", { workflowId: "n", input: { round: 1 } });
    await environment.settle();
    expect(await run.result()).toBe(3);
    expect(await run.snapshot()).toMatchObject({ status: "completed", run: { number: 3 } });
  });

  it("survives a crash in any commit", async () => {
    for (let commits = 0; commits < 4; commits++) {
      const environment = virtualEnvironment();
      const inner = memoryStore({ now: () => environment.now() });
      const process = dyingInCommit(commits, inner, environment);
      const { runtime } = setUp({ ...process, nodeDefinitions: nodes as never, workflows: [byNode] as never });
      await runtime.start("by-node", { workflowId: "n", input: { round: 1 } });
      await environment.settle();
      // another process finds the execution once the lease has ended
      const { runtime: second } = setUp({ store: inner, nodeDefinitions: nodes as never, workflows: [byNode] as never }, environment);
      for (let turn = 0; turn < 100; turn++) await environment.advance(1_000);
      expect(await (await second.get("n")).result()).toBe(3);
      expect((await inner.list()).items.map(({ workflowId }) => workflowId)).toEqual(["n"]);
      closeAll();
    }
  });

  it("goes on with the definition that the name has then, in a process that has it", async () => {
    const { runtime, environment, store } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 0 } });
    await environment.settle();
    const before = (await run.snapshot()).definition.hash;
    closeAll();
    const changed = { ...counting, nodes: [...counting.nodes, { id: "new", type: "noop" }] };
    const second = setUp({ store, nodeDefinitions: nodes as never, workflows: [changed] as never }, environment).runtime;
    await (await second.get("c")).signal("tick", 1);
    await environment.advance(2_000);
    const after = await (await second.get("c")).snapshot();
    expect(after).toMatchObject({ status: "paused", input: { count: 1 }, run: { number: 2 }, definition: { id: "counting" } });
    expect(after.definition.hash).not.toBe(before);
    expect((await store.getDefinition(after.definition.hash))?.nodes).toHaveLength(4);
    // the present definition counts for every reader
    const head = await store.loadHead("c");
    expect(head?.definition).toEqual(after.definition);
    expect((await store.list()).items[0]?.definition).toEqual(after.definition);
  });

  it("cancels detached executions that its run has waited for, and not those of the next run", async () => {
    const { runtime, environment, store } = living();
    const run = await runtime.start("calling", { workflowId: "p", input: { round: 1 } });
    await environment.settle();
    const [first] = (await store.list({ definitionId: "patient" })).items;
    await run.signal("on");
    await environment.settle();
    const all = (await store.list({ definitionId: "patient" })).items;
    expect(all.map(({ workflowId, status }) => [workflowId === first!.workflowId, status])).toEqual([
      [false, "paused"],
      [true, "cancelled"],
    ]);
    await run.cancel();
    await environment.settle();
    expect((await store.list({ status: ["paused", "active"] })).items).toEqual([]);
  });

  it("uses one budget of descendants for all runs", async () => {
    const { environment, store, runtime } = living(undefined, { limits: { descendants: 4 } });
    const run = await runtime.start("spreading", { workflowId: "s" });
    for (let turn = 0; turn < 20; turn++) await environment.advance(1_000);
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { code: "LIMIT_EXCEEDED" } });
    expect((await store.list({ definitionId: "leaf" })).items.length).toBeLessThanOrEqual(4);
  });

  it("begins each run a second later once a thousand quick runs have followed each other, unless something moves them", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("endless", { workflowId: "e" });
    await environment.settle();
    const { number } = (await run.snapshot()).run!;
    expect(number).toBe(1_001);
    await environment.advance(5_500);
    expect((await run.snapshot()).run!.number).toBe(1_006);
    await run.cancel();
    await environment.advance(1_000);
    expect((await run.snapshot()).status).toBe("cancelled");
  });

  it("is not slowed down while signals move it", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: -2_000 } });
    for (let count = 0; count < 1_100; count++) {
      await run.signal("tick", 1);
      await environment.settle();
    }
    expect((await run.snapshot()).run).toEqual({ number: 1_101, since: expect.any(Number), at: environment.now(), quick: 1 });
  });

  it("asks the host", async () => {
    const asked: unknown[] = [];
    const may = (request: unknown): boolean => asked.push(request) > 1;
    const { runtime, environment } = living(undefined, { may });
    const run = await runtime.start("by-node", { workflowId: "n", input: { round: 2 }, tenant: "acme" });
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { code: "ACTION_DENIED" } });
    expect(asked).toMatchObject([{ action: "continueAs", workflow: "by-node", id: "n", tenant: "acme", from: { nodeId: "again" } }]);
    await run.restart();
    await environment.settle();
    expect(await run.result()).toBe(3);
  });

  it("tells a waiting parent of the end of the last run", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("parent", { workflowId: "p" });
    await environment.settle();
    expect(await run.result()).toEqual(3);
  });

  it.each([
    ["inner", "can only be used in a step of the execution itself"],
    ["wrong", "wrong"],
    ["number", "must be an object with `input`"],
    ["more", "must be an object with `input`"],
    ["none", "must be an object with `input`"],
  ])("is refused where it cannot be: %s", async (id, message) => {
    const { runtime, environment } = living();
    const run = await runtime.start(id, { workflowId: "x", ...(id === "wrong" && { input: 1 }) });
    await environment.settle();
    const { status, error, run: present } = await run.snapshot();
    expect([status, present]).toEqual(["failed", undefined]);
    expect(error?.message).toContain(message);
  });

  it("needs a runtime", async () => {
    const engine = new WorkflowEngine({ workflow: byNode as never, nodeDefinitions: builtinNodes });
    const { status, error } = await engine.execute({ input: { round: 1 } });
    expect(status).toBe("failed");
    expect(error?.message).toContain("needs a runtime");
  });
});
