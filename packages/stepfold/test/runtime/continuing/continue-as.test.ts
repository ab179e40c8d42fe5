import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, dying, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const nodes = {
  ...builtinNodes,
  odd: defineNode({ executor: (data: { continueAs: unknown }) => ({ continueAs: data.continueAs }) as never }),
  /** A node that adds the payload of a signal to the count, and goes on as a new execution with the sum until the sum is 100. */
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

function living(given?: SnapshotStore) {
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
  ] as never;
  const onProblem = (workflowId: string | null, error: unknown): void =>
    void problems.push(`${workflowId} ${(error as { code: string }).code}`);
  const { runtime } = setUp({ store, nodeDefinitions: nodes as never, workflows, onProblem }, environment);
  return { environment, store, runtime, problems };
}

describe("continueAs", () => {
  it("ends an execution, which goes on as a new one with this input, its metadata and a history of its own", async () => {
    const { runtime, environment, store } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 0 }, metadata: { of: "ann" }, tenant: "acme" });
    await environment.settle();
    await run.signal("tick", 1);
    await environment.settle();
    const { incarnation, ...first } = await run.snapshot();
    expect(first).toMatchObject({ status: "completed", continuedAs: { workflowId: "c~2" }, activePaths: [] });
    expect(first.output).toBeUndefined();
    const second = await (await runtime.get("c~2")).snapshot();
    expect(second).toMatchObject({ status: "paused", input: { count: 1 }, metadata: { of: "ann" }, tenant: "acme" });
    expect(second.from).toEqual({ workflowId: "c", incarnation, version: first.version - 1, reason: "continueAs" });
    expect((await store.events("c~2", -1, 10)).map(({ event }) => event.type)).toEqual(["started", "completed", "suspended", "suspended"]);
    expect(second.steps).toBe(3);
  });

  it("hands over the signals that no step has waited for", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 0 } });
    await environment.settle();
    const long = { text: "x".repeat(5_000) };
    await run.signal("other", long);
    await run.signal("short", 1, { ttl: "1s" });
    await environment.advance(2_000);
    await run.signal("tick", 1);
    await environment.settle();
    const { inbox } = await (await runtime.get("c~2")).snapshot();
    expect(inbox).toMatchObject([{ name: "other", payload: long }]);
  });

  it("takes signals that are sent to the first one, each once", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 90 } });
    await environment.settle();
    for (let count = 0; count < 9; count++) {
      const twice = [run.signal("tick", 1, { idempotencyKey: `k${count}` }), run.signal("tick", 1, { idempotencyKey: `k${count}` })];
      expect((await Promise.all(twice)).map(({ applied }) => applied).sort()).toEqual([false, true]);
      await environment.settle();
    }
    const { input, from } = await (await runtime.get("c~10")).snapshot();
    expect([input, from?.workflowId]).toEqual([{ count: 99 }, "c~9"]);
    await run.signal("tick", 1);
    await environment.advance(86_400_000);
    expect(await (await runtime.get("c~10")).result()).toBe(100);
    await expect(run.signal("tick", 1)).rejects.toMatchObject({ code: "EXECUTION_ENDED", details: { workflowId: "c~10" } });
  });

  it("keeps a signal that comes while it is about to go on", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    let goOn = (): void => undefined;
    const store: SnapshotStore = {
      ...inner,
      async create(commit, options) {
        if (commit.workflowId === "c~2") await new Promise<void>((resolve) => (goOn = resolve));
        return inner.create(commit, options);
      },
    };
    const { runtime } = setUp({ store, nodeDefinitions: nodes as never, workflows: [counting] as never }, environment);
    const run = await runtime.start("counting", { workflowId: "c", input: { count: 0 } });
    await environment.settle();
    await run.signal("tick", 1);
    await environment.settle();
    expect(await run.snapshot()).toMatchObject({ status: "active", continuedAs: { workflowId: "c~2" } });
    const sent = run.signal("tick", 2);
    await environment.advance(100);
    goOn();
    await environment.advance(2_000);
    expect(await sent).toEqual({ applied: true });
    expect(await (await runtime.get("c~3")).snapshot()).toMatchObject({ input: { count: 3 } });
  });

  it("is said by an end node, in chains of any length", async () => {
    const { runtime, environment } = living();
    await runtime.start("by-node", { workflowId: "n", input: { round: 1 } });
    await environment.settle();
    expect(await (await runtime.get("n~3")).result()).toBe(3);
    expect(await (await runtime.get("n~2")).snapshot()).toMatchObject({ from: { workflowId: "n" }, continuedAs: { workflowId: "n~3" } });
  });

  it("survives a crash between the end of the one and the beginning of the other", async () => {
    for (const lost of ["create", "answer", "delivered"]) {
      const environment = virtualEnvironment();
      const inner = memoryStore({ now: () => environment.now() });
      const process = dying(environment);
      let isDown = false;
      const down = async (): Promise<never> => new Promise(() => undefined);
      const store: SnapshotStore = {
        ...inner,
        async create(commit, options) {
          if (commit.workflowId !== "n~2" || isDown) return inner.create(commit, options);
          isDown = true;
          if (lost === "create") return down();
          const claim = await inner.create(commit, options);
          return lost === "answer" ? down() : claim;
        },
        commit: (commit) => (lost === "delivered" && isDown && commit.workflowId === "n" ? down() : inner.commit(commit)),
      };
      const { runtime } = setUp({ store, nodeDefinitions: nodes as never, workflows: [byNode] as never }, process.environment);
      await runtime.start("by-node", { workflowId: "n", input: { round: 1 } });
      await environment.settle();
      expect(isDown).toBe(true);
      expect((await inner.load("n"))?.status).toBe("active");
      process.die();
      // another process finds the execution once the lease has ended
      const { runtime: second } = setUp({ store: inner, nodeDefinitions: nodes as never, workflows: [byNode] as never }, environment);
      for (let turn = 0; turn < 100; turn++) await environment.advance(1_000);
      expect((await inner.load("n"))?.status).toBe("completed");
      expect(await (await second.get("n~3")).result()).toBe(3);
      expect((await inner.list()).items.map(({ workflowId }) => workflowId).sort()).toEqual(["n", "n~2", "n~3"]);
      closeAll();
    }
  });

  it("does not take another execution for its successor that has the id of one that was deleted", async () => {
    const { runtime, environment, store } = living();
    const run = await runtime.start("by-node", { workflowId: "n", input: { round: 1 } });
    await environment.settle();
    expect(await run.result()).toBe(3);
    await store.delete("n~2");
    await environment.advance(31 * 86_400_000);
    await runtime.start("counting", { workflowId: "n~2", input: { count: 0 } });
    await environment.settle();
    expect(await run.result()).toBeNull();
    await expect(run.signal("tick", 1)).rejects.toMatchObject({ code: "EXECUTION_ENDED", details: { workflowId: "n" } });
  });

  it("tells a waiting parent of the end of the last one", async () => {
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
    const { status, error, continuedAs } = await run.snapshot();
    expect([status, continuedAs]).toEqual(["failed", undefined]);
    expect(error?.message).toContain(message);
  });

  it("needs an id that can grow", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("by-node", { workflowId: "x".repeat(254), input: { round: 1 } });
    await environment.settle();
    expect((await run.snapshot()).error?.message).toContain("longer than 255 characters");
  });

  it("tells the parent if the next one cannot be begun", async () => {
    const { runtime, environment, problems } = living();
    await runtime.start("counting", { workflowId: "kid~2", input: { count: 1 } });
    const call = { workflow: "by-node", detached: true, workflowId: "kid", input: { round: 1 } };
    const run = await runtime.start(
      { id: "calls", nodes: [{ id: "child", type: "workflow", data: call }], edges: [] },
      { workflowId: "p" },
    );
    await environment.settle();
    expect(problems).toEqual(["kid~2 START_CONFLICT"]);
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { nodeId: "child", message: expect.stringContaining("kid~2") } });
  });

  it("needs a runtime", async () => {
    const engine = new WorkflowEngine({ workflow: byNode as never, nodeDefinitions: builtinNodes });
    const { status, error } = await engine.execute({ input: { round: 1 } });
    expect(status).toBe("failed");
    expect(error?.message).toContain("needs a runtime");
  });

  it("tells of an id that another execution has", async () => {
    const { runtime, environment, problems } = living();
    await runtime.start("counting", { workflowId: "n~2", input: { count: 1 } });
    await runtime.start("by-node", { workflowId: "n", input: { round: 1 } });
    await environment.settle();
    expect(problems).toEqual(["n~2 START_CONFLICT"]);
    expect(await (await runtime.get("n")).snapshot()).toMatchObject({ status: "completed" });
  });
});
