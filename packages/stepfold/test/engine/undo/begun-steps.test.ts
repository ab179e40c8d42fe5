import { beforeEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/core/snapshot/snapshot.ts";
import { apply } from "../../../src/core/transition/apply.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { FatalError } from "../../../src/engine/node/fatal-error.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { createRuntime } from "../../../src/runtime/create-runtime.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { viaJson } from "../engine.fixture.ts";
import { VirtualEnvironment } from "../virtual-environment.fixture.ts";

// A compensation runs only for a step whose executor was called.

const whole = { completed: false };
let called: string[] = [];
let undone: unknown[] = [];
const nodeDefinitions = {
  ...builtinNodes,
  book: defineNode({
    executor: (data, step) => {
      called.push(step.nodeId);
      return { data };
    },
  }),
  strict: defineNode({
    input: { type: "object", required: ["card"] } as never,
    executor: (_data, step) => {
      called.push(step.nodeId);
      return { data: null };
    },
  }),
  refused: defineNode({
    executor: (_data, step) => {
      called.push(step.nodeId);
      throw new FatalError("the hotel is full");
    },
  }),
  again: defineNode({
    retryPolicy: { maxAttempts: 2, interval: "1m", backoff: "fixed" },
    executor: (_data, step) => {
      called.push(step.nodeId);
      throw new Error("not yet");
    },
  }),
  hangs: defineNode({
    executor: (_data, step) => {
      called.push(step.nodeId);
      return new Promise<never>(() => undefined);
    },
  }),
  later: defineNode({
    executor: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      throw new FatalError("no");
    },
  }),
  back: defineNode({
    executor: (_data, step) => {
      // the keys are in `undone-keys.test.ts`
      const { idempotencyKey: _, ...what } = step.compensating!;
      undone.push([step.nodeId, what]);
      return { data: null };
    },
  }),
};

/** A workflow in which the named nodes have a compensation. */
function undoable(names: readonly string[], ...given: Parameters<typeof flow> extends [string, ...infer R] ? R : never): object {
  const made = flow("w", ...given) as { nodes: { id: string }[] };
  return { ...made, nodes: made.nodes.map((node) => (names.includes(node.id) ? { ...node, compensate: { type: "back" } } : node)) };
}

const clock = new VirtualEnvironment();
const engineOf = (workflow: object, plugins: readonly object[] = []): WorkflowEngine<typeof nodeDefinitions> =>
  new WorkflowEngine({ workflow, nodeDefinitions, environment: clock, plugins: plugins as never });
const over = ({ status }: Snapshot): boolean => ["failed", "cancelled", "completed"].includes(status);

async function cancelled(workflow: object, snapshot: Snapshot): Promise<Snapshot> {
  const engine = engineOf(workflow);
  return engine.execute({ snapshot: viaJson(await engine.send(viaJson(snapshot), { type: "cancel" })) });
}

beforeEach(() => {
  [called, undone] = [[], []];
});

describe("B2: a step whose executor was never called", () => {
  it.each<[what: string, workflow: object]>([
    ["because its data did not resolve", undoable(["b"], { b: ["book", "{{ nodes.nope.last.data }}"] })],
    ["because its data did not fit", undoable(["b"], { b: ["strict", "{{ 'text' }}"] })],
    ["because its data did not resolve, with attempts left", undoable(["b"], { b: ["again", "{{ nodes.nope.last.data }}"] })],
    [
      "although its failure left by an edge",
      undoable(["b"], { b: ["book", "{{ nodes.nope.last.data }}"], f: ["fail", { message: "x" }] }, ["b>f@error"]),
    ],
  ])("is not undone %s", async (_, workflow) => {
    expect(over(await engineOf(workflow).execute({}))).toBe(true);
    expect([called, undone]).toEqual([[], []]);
  });

  it("is not undone because its turn never came", async () => {
    const workflow = undoable(["b", "c"], { s: "noop", f: ["fail", { message: "x" }], b: "book", c: "book" }, ["s>f", "s>b", "b>c"]);
    expect(await engineOf(workflow).execute({ concurrency: 1, initialNodeId: "s" })).toMatchObject({ status: "failed" });
    expect([called, undone]).toEqual([[], []]);
  });

  it("is not undone if it was ready when the execution was cancelled", async () => {
    const workflow = undoable(["b"], { s: "noop", b: "book" }, ["s>b"]);
    const ready = await engineOf(workflow).execute({ stepLimit: 1 });
    expect(ready).toMatchObject({ status: "active", currentNodeId: "b" });
    expect(await cancelled(workflow, ready)).toMatchObject({ status: "cancelled" });
    expect([called, undone]).toEqual([[], []]);
  });

  it("is not undone because the steps were used up", async () => {
    const workflow = undoable(["b"], { s: "noop", b: "book" }, ["s>b"]);
    const engine = new WorkflowEngine({ workflow, nodeDefinitions, limits: { steps: 1 } });
    expect(await engine.execute({})).toMatchObject({ status: "failed", error: { code: "STEPS_EXCEEDED" } });
    expect([called, undone]).toEqual([[], []]);
  });
});

describe("B2: a step that was begun and did not complete is told apart", () => {
  it.each<[what: string, workflow: object]>([
    ["if it failed for good", undoable(["b"], { b: "refused" })],
    ["if its failure left by an edge", undoable(["b"], { b: "refused", f: ["fail", { message: "x" }] }, ["b>f@error"])],
    ["if the others went on to their end", undoable(["b"], { b: "refused" }, [], { onFailure: "finish" })],
    [
      "if it was aborted by another node, long before",
      undoable(["b"], { s: "noop", b: "hangs", c: "noop", f: ["fail", { message: "x" }] }, ["s>b", "s>c", "c>f"], {}),
    ],
  ])("%s", async (_, given) => {
    const made = given as { nodes: { id: string }[] };
    const workflow = { ...made, nodes: made.nodes.map((node) => (node.id === "c" ? { ...node, cancels: ["b"] } : node)) };
    expect(await engineOf(workflow).execute({ initialNodeId: made.nodes[0]!.id })).toMatchObject({ status: "failed" });
    expect([called, undone]).toEqual([["b"], [["b", whole]]]);
  });

  it.each<[what: string, type: string | readonly [string, object]]>([
    ["was to be retried", "again"],
    ["waited for somebody", "approval"],
  ])("if it %s when the execution was cancelled", async (_, type) => {
    const workflow = undoable(["b"], { b: type as string });
    const waiting = await engineOf(workflow).execute({});
    expect(over(waiting)).toBe(false);
    expect(await cancelled(workflow, waiting)).toMatchObject({ status: "cancelled", compensations: [{ nodeId: "b" }] });
    expect(undone).toEqual([["b", whole]]);
  });

  it("if it was under way when another one failed, in a sub-workflow too", async () => {
    const inner = { ...undoable(["b"], { b: "hangs" }), id: "inner" };
    const steps = { s: "noop", b: "hangs", sub: ["workflow", { workflow: "inner" }], f: "later" };
    const workflow = undoable(["b"], steps as never, ["s>b", "s>sub", "s>f"], { workflows: { inner } });
    expect(await engineOf(workflow).execute({ initialNodeId: "s" })).toMatchObject({ status: "failed" });
    expect(undone).toEqual([
      ["b", whole],
      ["b", whole],
    ]);
  });

  it("for each visit in which it failed, because each has a key of its own, beside what it gave when it went well", async () => {
    let times = 0;
    const definitions = {
      ...nodeDefinitions,
      moody: defineNode({
        executor: () => {
          if (++times < 4) throw new FatalError("no");
          return { data: times };
        },
      }),
    };
    const workflow = undoable(["m"], { m: "moody", f: ["fail", { message: "x" }] }, ["m>m@error", "m>f"]);
    const end = await new WorkflowEngine({ workflow, nodeDefinitions: definitions }).execute({ initialNodeId: "m" });
    expect(end).toMatchObject({ status: "failed" });
    expect(undone).toEqual([
      ["m", whole],
      ["m", whole],
      ["m", whole],
      ["m", { completed: true, output: 4 }],
    ]);
  });

  it("also if the process that called it died before it knew more, and the next one cannot call it", async () => {
    const workflow = undoable(["b"], { b: ["hangs", "{{ globals.card.number }}"] });
    const controller = new AbortController();
    const engine = engineOf(workflow);
    const running = engine.execute({ globals: { card: { number: 1 } }, signal: controller.signal } as never);
    controller.abort();
    const left = await running.catch((error: unknown) => error as Snapshot);
    expect(left).toMatchObject({ status: "active", activePaths: [{ begun: true }] });
    expect(await engine.execute({ snapshot: viaJson(left as Snapshot), globals: {} } as never)).toMatchObject({ status: "failed" });
    expect(undone).toEqual([["b", whole]]);
  });
});

describe("B2: the event that tells that a step is begun", () => {
  const workflow = undoable(["b"], { b: "approval" });

  it("changes nothing if the step is not to be performed any more", async () => {
    const engine = engineOf(workflow);
    const waiting = await engine.execute({});
    const late = { type: "begun", version: waiting.version + 1, at: 0, pathId: "0", nodeId: "b" } as const;
    for (const event of [
      { ...late, turn: 1 },
      { ...late, turn: 2 },
      { ...late, turn: 2, pathId: "0.1" },
    ])
      expect(apply(engine.workflow, waiting, event)).toBe(waiting);
  });

  it("is stored before the executor is called, also if another writer is first", async () => {
    const memory = memoryStore();
    let isFirst = true;
    const store: SnapshotStore = {
      ...memory,
      async commit(commit) {
        if (isFirst && commit.events.some(({ type }) => type === "begun")) {
          isFirst = false;
          expect(called).toEqual([]);
          await (await runtime.get("w"))!.signal("anything");
        }
        return memory.commit(commit);
      },
    };
    const runtime = createRuntime({ store, workflows: [undoable(["b"], { b: "book" })], nodeDefinitions, pollMs: 20 });
    const run = await runtime.start("w", { workflowId: "w" });
    await run.result();
    const events = await store.events("w", -1, 10);
    expect(events.map(({ event }) => event.type)).toEqual(["started", "signalled", "begun", "completed"]);
    expect(called).toEqual(["b"]);
    await runtime.close();
  });
});
