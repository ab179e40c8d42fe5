import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { isTerminal, type Snapshot } from "../../src/core/snapshot/snapshot.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import type { Commit } from "../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../src/stores/databases/memory/memory-store.ts";
import { flow } from "../nodes/workflow.fixture.ts";
import { closeAll, setUp } from "./runtime.fixture.ts";

const inner = flow("inner", { work: ["set", { got: "{{ input }}" }] });
const asking = flow("asking", { ask: "approval", done: ["end", { output: "{{ input }}" }] }, ["ask>done@approved"]);
const failing = flow("failing", { stop: ["fail", { message: "no stock", code: "EMPTY" }] });
const outer = (workflow: string, data: object = {}, edges: readonly string[] = ["call>after"]): object =>
  flow(
    "outer",
    { call: ["workflow", { workflow, detached: true, input: "{{ input }}", ...data }], after: ["set", { after: "{{ $json }}" }] },
    edges,
  );

function bench(workflow: object, more: object = {}): ReturnType<typeof setUp> {
  return setUp({ nodeDefinitions: builtinNodes, workflows: [workflow, inner, asking, failing], ...more });
}

async function run(workflow: object, input: unknown = 5) {
  const { runtime, environment, store } = bench(workflow);
  const parent = await runtime.start("outer", { workflowId: "p", input });
  await environment.settle();
  const snapshot = await parent.snapshot();
  const children = (await store.list()).items.map(({ workflowId }) => workflowId).filter((id) => id !== "p");
  const child = children[0] === undefined ? null : await runtime.get(children[0]);
  return { runtime, environment, store, parent, snapshot, children, child };
}

afterEach(closeAll);

describe("a detached workflow", () => {
  it("is an execution of its own, and its output is the node's", async () => {
    const { snapshot, child } = await run(outer("inner"));
    expect(snapshot).toMatchObject({ status: "completed", output: { after: { got: 5 } } });
    expect(snapshot).not.toHaveProperty("outbox");
    expect(await child!.snapshot()).toMatchObject({
      status: "completed",
      definition: { id: "inner" },
      output: { got: 5 },
      parent: { workflowId: "p", waitId: "0@2", depth: 1, incarnation: snapshot.incarnation },
    });
    expect(child!.workflowId).toMatch(/^p\/0#1~\w+/);
  });

  it("is found by its id and answered there, however long that takes", async () => {
    const { parent, environment, child } = await run(outer("asking", { workflowId: "post-{{ input }}" }));
    expect(child!.workflowId).toBe("post-5");
    expect(await parent.snapshot()).toMatchObject({
      status: "paused",
      activePaths: [{ waits: [{ kind: "child", workflowId: "post-5" }] }],
    });
    await environment.advance(10 * 60_000);
    await child!.resume({ payload: { approved: true } });
    await environment.settle();
    expect(await parent.snapshot()).toMatchObject({ status: "completed", output: { after: 5 } });
  });

  it("has to settle before its parent has settled", async () => {
    const slow = flow("asking", { nap: ["wait", { for: "1h" }], ask: "approval" }, ["nap>ask"]);
    const { runtime, environment } = bench(outer("asking"), { workflows: [outer("asking"), slow] });
    const parent = await runtime.start("outer", { workflowId: "p" });
    let told = false;
    const settled = parent.settled().then((snapshot) => {
      told = true;
      return snapshot;
    });
    await environment.advance(1_000);
    expect(told).toBe(false);
    await environment.advance(3_600_000);
    expect(await settled).toMatchObject({ status: "paused", activePaths: [{ nodeId: "call" }] });
  });

  it("hands its failure to the node, whose edge takes it", async () => {
    expect((await run(outer("failing"))).snapshot).toMatchObject({
      status: "failed",
      error: { message: "no stock", code: "EMPTY", nodeId: "call" },
    });
    expect((await run(outer("failing", {}, ["call>after@error"]))).snapshot).toMatchObject({
      status: "completed",
      output: { after: { message: "no stock", code: "EMPTY" } },
    });
  });

  it("is cancelled when the node's timeout is over, and the path goes on without it", async () => {
    const workflow = outer("asking", {}, ["call>after", "call>after@timeout"]) as { nodes: object[] };
    workflow.nodes[0] = { ...workflow.nodes[0], timeout: "5m" };
    const { parent, environment, child } = await run(workflow);
    await environment.advance(5 * 60_000 - 1);
    expect((await parent.snapshot()).status).toBe("paused");
    await environment.advance(10);
    expect(await parent.snapshot()).toMatchObject({
      status: "completed",
      context: { call: [{ error: expect.stringContaining("had to end by") }] },
    });
    expect((await child!.snapshot()).status).toBe("cancelled");
  });

  it("is begun anew, under another id, if it has failed and the node's policy says so", async () => {
    const workflow = outer("failing", {}, ["call>after@error"]) as { nodes: object[] };
    workflow.nodes[0] = { ...workflow.nodes[0], retryPolicy: { maxAttempts: 2, interval: "1m", backoff: "fixed" } };
    const { parent, environment, store, snapshot } = await run(workflow);
    expect(snapshot).toMatchObject({ status: "error", activePaths: [{ nodeId: "call", status: "retrying", attempts: 1 }] });
    expect(snapshot.activePaths[0]).not.toHaveProperty("resumed");
    await environment.advance(61_000);
    await environment.settle();
    expect(await parent.snapshot()).toMatchObject({ status: "completed", output: { after: { code: "EMPTY" } } });
    const children = (await store.list()).items.map(({ workflowId }) => workflowId).filter((id) => id !== "p");
    expect(new Set(children).size).toBe(2);
  });

  it("fails the node when it is cancelled", async () => {
    const { parent, environment, child } = await run(outer("asking"));
    await child!.cancel();
    await environment.settle();
    expect(await parent.snapshot()).toMatchObject({ status: "failed", error: { code: "EXECUTION_CANCELLED", nodeId: "call" } });
  });

  it("is cancelled with its parent, which ends only when the child has the message", async () => {
    const { parent, environment, child, store } = await run(outer("asking"));
    await parent.cancel();
    await environment.settle();
    expect(await parent.snapshot()).toMatchObject({ status: "cancelled" });
    expect(await child!.snapshot()).toMatchObject({ status: "cancelled" });
    const events = (await store.events("p", -1, 100)).map(({ event }) => event.type);
    expect(events).toEqual(["started", "suspended", "delivered", "cancelled", "delivered"]);
  });

  it.each([
    ["inside a sub-workflow", { sub: ["workflow", { workflow: "outer", input: 1 }] }, { workflows: { outer: outer("asking") } }],
    ["in an item of a map", { sub: ["map", { workflow: "outer", items: [1] }] }, { workflows: { outer: outer("asking") } }],
  ] as const)("is cancelled %s too", async (_where, steps, more) => {
    const { runtime, environment, store } = bench(flow("top", steps as never, [], more));
    const parent = await runtime.start("top", { workflowId: "p" });
    await environment.settle();
    await parent.cancel();
    await environment.settle();
    expect((await store.list()).items.map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  });

  it("runs on its own if no node waits for it", async () => {
    const { snapshot, child, environment } = await run(outer("asking", { wait: false }));
    expect(snapshot).toMatchObject({ status: "completed", output: { after: { workflowId: child!.workflowId } } });
    expect(await child!.snapshot()).toMatchObject({ status: "paused", parent: { workflowId: "p" } });
    await child!.resume({ payload: { approved: true } });
    await environment.settle();
    expect(await child!.snapshot()).toMatchObject({ status: "completed" });
  });

  it("fails the node if the id is taken by another execution, which does not change", async () => {
    const { runtime, environment, store } = bench(outer("inner", { workflowId: "taken" }));
    const other = await runtime.start("asking", { workflowId: "taken", input: 5 });
    const parent = await runtime.start("outer", { input: 5 });
    await environment.settle();
    expect(await parent.snapshot()).toMatchObject({ status: "failed", error: { code: "START_CONFLICT" } });
    expect(await other.snapshot()).toMatchObject({ status: "paused" });
    expect((await store.list()).items).toHaveLength(2);
  });

  it("fails the node if the id is that of a deleted execution", async () => {
    const { runtime, environment, store } = bench(outer("inner", { workflowId: "taken" }));
    await runtime.start("inner", { workflowId: "taken" });
    await environment.settle();
    await store.delete("taken");
    const parent = await runtime.start("outer", { input: 5 });
    await environment.settle();
    expect(await parent.snapshot()).toMatchObject({ status: "failed", error: { code: "START_CONFLICT" } });
  });

  it.each<[string, object, string]>([
    ["an unknown workflow that an expression names", outer("{{ 'nowhere' }}"), "DEFINITION_UNKNOWN"],
    ["an id that cannot be one", outer("inner", { workflowId: " x" }), "OPTION_INVALID"],
    ["an input that does not fit", outer("strict"), "INPUT_INVALID"],
    ["several first nodes", outer("split"), "START_AMBIGUOUS"],
  ])("refuses %s at the node", async (_what, workflow, code) => {
    const strict = { ...inner, id: "strict", input: { type: "string" } };
    const split = flow("split", { a: "noop", b: "noop" });
    const { runtime, environment, store } = bench(workflow, { workflows: [workflow, inner, strict, split] });
    const parent = await runtime.start("outer", { input: 5 });
    await environment.settle();
    expect(await parent.snapshot()).toMatchObject({ status: "failed", error: { code, nodeId: "call" } });
    expect((await store.list()).items).toHaveLength(1);
  });

  it("may start itself, up to a depth", async () => {
    const again = flow("outer", { call: ["workflow", { workflow: "outer", detached: true }] });
    const { runtime, environment, store } = bench(again, { limits: { nesting: 3 } });
    const parent = await runtime.start("outer", { workflowId: "p" });
    await environment.settle();
    expect(await parent.snapshot()).toMatchObject({ status: "failed", error: { code: "LIMIT_EXCEEDED" } });
    expect((await store.list()).items).toHaveLength(4);
  });

  it("fails its node if its output is larger than the parent may hold", async () => {
    const large = flow("inner", { work: ["set", "{{ 'x'.repeat(3000) }}"] });
    const workflow = outer("inner");
    const { environment, store } = bench(workflow, { workflows: [workflow, large] });
    const { runtime } = setUp(
      { store, nodeDefinitions: builtinNodes, workflows: [workflow, large], limits: { executionBytes: 4_000 } },
      environment,
    );
    const parent = await runtime.start("outer", { workflowId: "p", input: "y".repeat(2_000) });
    await environment.settle();
    expect(await parent.snapshot()).toMatchObject({ status: "failed", error: { code: "LIMIT_EXCEEDED" } });
  });

  it("starts with the definition that was current at the parent's step, whichever process starts it", async () => {
    const environment = setUp().environment;
    const store = memoryStore({ now: () => environment.now() });
    const slow = flow("outer", { nap: ["wait", { for: "1h" }], call: ["workflow", { workflow: "inner", detached: true }] }, ["nap>call"]);
    const first = bench(slow, { store, environment }).runtime;
    const parent = await first.start("outer", { workflowId: "p" });
    await environment.settle();
    await first.close();
    const newer = flow("inner", { work: ["set", "newer"] });
    bench(slow, { store, environment, workflows: [slow, newer] });
    await environment.advance(3_600_000 + 2_000);
    expect(await parent.snapshot()).toMatchObject({ status: "completed", output: "newer" });
  });

  it("takes no command any more once only its last message is left", async () => {
    const { runtime, environment, store } = bench(outer("asking"));
    const parent = await runtime.start("outer", { workflowId: "p" });
    await environment.settle();
    const child = await runtime.get((await store.list()).items.find(({ workflowId }) => workflowId !== "p")!.workflowId);
    const idle = setUp({ store, nodeDefinitions: builtinNodes, workflows: [asking], drive: false }, environment).runtime;
    await runtime.close();
    await (await idle.get(child.workflowId)).cancel();
    const told = await child.snapshot();
    expect(told).toMatchObject({
      status: "active",
      activePaths: [],
      ending: { status: "cancelled" },
      outbox: [{ type: "ended", to: "p" }],
    });
    const again = await idle.get(child.workflowId);
    for (const act of [() => again.cancel(), () => again.retry(), () => again.signal("x", 1), () => again.resume({ payload: 1 })])
      await expect(act()).rejects.toMatchObject({ code: "EXECUTION_ENDED", details: { status: "cancelled" } });
    expect(await child.snapshot()).toEqual(told);
    const { advanced } = await idle.advance(child.workflowId);
    expect(advanced).toBe(true);
    expect(await child.snapshot()).toMatchObject({ status: "cancelled" });
    await idle.advance("p");
    expect(await parent.snapshot()).toMatchObject({ status: "failed", error: { code: "EXECUTION_CANCELLED" } });
  });
});

describe("a crash of either side", () => {
  const side = defineNode({
    executor: (data, step) => {
      begun.push(`${step.workflowId === "p" ? "parent" : "child"} ${step.nodeId}`);
      return { data };
    },
  });
  let begun: string[] = [];
  const nodeDefinitions = { ...builtinNodes, side };
  const child = flow("inner", { one: ["side", 1], two: ["side", "{{ input }}"] }, ["one>two"]);
  const parent = flow(
    "outer",
    { before: ["side", 0], call: ["workflow", { workflow: "inner", detached: true, input: 7 }], after: ["side", "{{ $json }}"] },
    ["before>call", "call>after"],
  );

  /**
   * Lets a process die just before or after its nth write, and another process go on. Returns the last snapshots of all executions, or null
   * if there are fewer writes.
   */
  async function crashed(write: number, when: "before" | "after"): Promise<Snapshot[] | null> {
    begun = [];
    const environment = setUp().environment;
    const store = memoryStore({ now: () => environment.now() });
    let writes = 0;
    let dead = false;
    const never = new Promise<never>(() => undefined);
    const dying =
      <A extends readonly unknown[], R>(work: (...args: A) => Promise<R>, counts: boolean) =>
      async (...args: A): Promise<R> => {
        if (dead) return never;
        const last = counts && ++writes === write;
        if (last && when === "before") dead = true;
        if (dead) return never;
        const result = await work(...args);
        dead ||= last;
        return dead ? never : result;
      };
    const { create, commit, claim, renew, release, load, events } = store;
    const doomed = {
      ...store,
      create: dying(create, true),
      commit: dying(commit, true),
      claim: dying(claim, false),
      renew: dying(renew, false),
      release: dying(release, false),
      load: dying(load, false),
      events: dying(events, false),
    };
    const mortal = { ...environment, after: (ms: number, call: () => void) => environment.after(ms, () => !dead && call()) };
    const options = { nodeDefinitions, workflows: [parent, child], leaseMs: 5_000 };
    void setUp({ ...options, store: doomed }, mortal).runtime.start("outer", { workflowId: "p" });
    begun = [];
    await environment.settle();
    if (!dead) return null;
    const { runtime } = setUp({ ...options, store }, environment);
    await environment.advance(7_000);
    await runtime.start("outer", { workflowId: "p" });
    await environment.advance(60_000);
    return Promise.all((await store.list()).items.map(async ({ workflowId }) => (await store.load(workflowId))!));
  }

  it.each(["before", "after"] as const)("loses nothing and starts nothing twice, at every write, just %s it", async (when) => {
    let crashes = 0;
    for (let write = 1; ; write++) {
      const snapshots = await crashed(write, when);
      if (!snapshots) break;
      crashes++;
      expect(
        snapshots.map(({ status }) => status),
        `write ${write}`,
      ).toEqual(["completed", "completed"]);
      expect(snapshots.every(({ status }) => isTerminal(status))).toBe(true);
      expect(snapshots.find(({ workflowId }) => workflowId === "p")).toMatchObject({ output: 7 });
      // only a step whose outcome was not committed is performed again
      for (const step of ["parent before", "child one", "child two", "parent after"]) {
        const times = begun.filter((name) => name === step).length;
        expect(times, `${step} at write ${write}`).toBeGreaterThanOrEqual(1);
        expect(times, `${step} at write ${write}`).toBeLessThanOrEqual(2);
      }
      expect(begun.length).toBeLessThanOrEqual(5);
    }
    expect(crashes).toBeGreaterThan(8);
  });
});

it("a child that ended while its parent's database had lost the wait tells its end to the wait that takes its place", async () => {
  const below = memoryStore({ now: () => environment.now() });
  let lost = 0;
  const store = {
    ...below,
    async commit(commit: Commit) {
      if (commit.workflowId !== "p" || (await below.list({ status: ["completed"] })).items.length > 0) return below.commit(commit);
      // the store acknowledges this commit and loses it, as it may happen in a failover
      if (lost++ === 0 && commit.events.some(({ type }) => type === "suspended")) return;
      throw new StepfoldError("STORE_UNAVAILABLE", { store: "memory", reason: "it fails over" });
    },
  };
  const { environment, runtime } = bench(outer("inner"), { store });
  const parent = await runtime.start("outer", { workflowId: "p", input: 5 });
  await environment.advance(10 * 60_000);
  expect(lost).toBeGreaterThan(1);
  expect(await parent.snapshot()).toMatchObject({ status: "completed", output: { after: { got: 5 } } });
});
