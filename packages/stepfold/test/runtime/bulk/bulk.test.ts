import { afterEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { BulkAction, BulkOptions, BulkOutcome } from "../../../src/runtime/bulk/bulk.ts";
import type { Runtime } from "../../../src/runtime/runtime.ts";
import type { VirtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, nodeDefinitions, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

let isBroken = true;
const nodes = {
  ...nodeDefinitions,
  work: defineNode({
    executor: (data) => {
      if (isBroken) throw new Error("the service is down");
      return { data };
    },
  }),
  listen: defineNode({ executor: (_data, step) => (step.resumed ? { data: step.resumed.payload } : step.suspend(null, { signal: "go" })) }),
};
const workflow = (id: string, type: string, more: object = {}) => ({ id, nodes: [{ id: "step", type, ...more }], edges: [] });
const workflows = [
  workflow("works", "work"),
  workflow("asks", "ask"),
  workflow("listens", "listen"),
  workflow("tries", "work", { retryPolicy: { maxAttempts: 5, interval: "1h", backoff: "fixed" } }),
  {
    id: "decides",
    nodes: [
      { id: "begin", type: "say" },
      { id: "left", type: "work", incident: true },
      { id: "right", type: "work", incident: true },
    ],
    edges: [
      { source: "begin", target: "left" },
      { source: "begin", target: "right" },
    ],
  },
];

/** Makes a runtime and starts executions of a workflow with these ids, in this order and at different times. */
async function started(id: string, ids: readonly string[]): Promise<{ runtime: Runtime; environment: VirtualEnvironment }> {
  isBroken = true;
  const { runtime, environment } = setUp({ nodeDefinitions: nodes as never, workflows });
  for (const workflowId of ids) {
    await runtime.start(id, { workflowId, metadata: { of: workflowId } });
    await environment.advance(1);
  }
  return { runtime, environment };
}

async function outcomes(runtime: Runtime, action: BulkAction, options?: BulkOptions): Promise<BulkOutcome[]> {
  const all: BulkOutcome[] = [];
  for await (const outcome of runtime.bulk(action, options)) all.push(outcome);
  return all;
}
const said = (all: readonly BulkOutcome[]): string[] => all.map(({ workflowId, outcome }) => `${workflowId} ${outcome}`);
const statusOf = async (runtime: Runtime, id: string): Promise<string> => (await (await runtime.get(id)).snapshot()).status;

describe("the same for many executions", () => {
  it("cancels those that a filter finds, the oldest first, and leaves the others alone", async () => {
    const { runtime } = await started("asks", ["a", "b", "c"]);
    await runtime.start("listens", { workflowId: "other" });
    const cancel = { action: "cancel", reason: "wrong price" } as const;
    const where = { definitionId: "asks" };
    expect(said(await outcomes(runtime, cancel, { where, dryRun: true }))).toEqual(["a planned", "b planned", "c planned"]);
    expect(await statusOf(runtime, "a")).toBe("paused");
    expect(said(await outcomes(runtime, cancel, { where, limit: 2 }))).toEqual(["a done", "b done"]);
    await expect((await runtime.get("b")).result()).rejects.toMatchObject({ details: { reason: "wrong price" } });
    expect(said(await outcomes(runtime, cancel, { where }))).toEqual(["c done"]);
    expect(await statusOf(runtime, "other")).toBe("paused");
  });

  it("makes retries at once", async () => {
    const { runtime, environment } = await started("tries", ["a", "b"]);
    isBroken = false;
    expect(said(await outcomes(runtime, { action: "retry" }))).toEqual(["a done", "b done"]);
    await environment.settle();
    expect(await statusOf(runtime, "a")).toBe("completed");
  });

  it("sends a signal to each, once for a key, however often it is called", async () => {
    const { runtime, environment } = await started("listens", ["a", "b"]);
    const signal = { action: "signal", name: "later", payload: 5, idempotencyKey: "k" } as const;
    expect(said(await outcomes(runtime, signal))).toEqual(["a done", "b done"]);
    expect(said(await outcomes(runtime, signal))).toEqual(["a unchanged", "b unchanged"]);
    await outcomes(runtime, { ...signal, name: "go", idempotencyKey: "other" }, { where: { metadata: { of: "a" } } });
    await environment.settle();
    expect([await statusOf(runtime, "a"), await statusOf(runtime, "b")]).toEqual(["completed", "paused"]);
  });

  it("restarts what has failed, each once", async () => {
    const { runtime, environment } = await started("works", ["a", "b"]);
    isBroken = false;
    const plans = await outcomes(runtime, { action: "restart" }, { dryRun: true });
    expect(plans).toMatchObject([
      { workflowId: "a", status: "failed", outcome: "planned", plan: { nodes: ["step"] } },
      { workflowId: "b" },
    ]);
    expect(said(await outcomes(runtime, { action: "restart" }))).toEqual(["a done", "b done"]);
    await environment.settle();
    expect(await (await runtime.get("a")).result()).toBeNull();
    expect(said(await outcomes(runtime, { action: "restart" }))).toEqual([]);
  });

  it("forks each, once for a suffix, and never a fork that it has made", async () => {
    const { runtime } = await started("asks", ["a", "b"]);
    const fork = { action: "fork", suffix: "new", node: "step" } as const;
    const done = await outcomes(runtime, fork);
    expect(done.map(({ plan }) => plan?.workflowId)).toEqual(["a~new", "b~new"]);
    expect(said(await outcomes(runtime, fork))).toEqual(["a done", "b done"]);
    expect((await runtime.list()).items).toHaveLength(4);
  });

  it("forks also an execution that somebody has given an id with the suffix", async () => {
    const { runtime, environment } = await started("works", ["a", "mine~new"]);
    const fork = { action: "fork", suffix: "new", node: "step" } as const;
    const done = await outcomes(runtime, fork);
    expect(done.map(({ plan }) => plan?.workflowId)).toEqual(["a~new", "mine~new~new"]);
    await environment.advance(1);
    expect(said(await outcomes(runtime, fork))).toEqual(["a done", "mine~new done"]);
  });

  it("decides every incident of an execution, and passes over those that have none", async () => {
    const { runtime, environment } = await started("decides", ["a", "b"]);
    await runtime.start("asks", { workflowId: "other" });
    await environment.settle();
    const decide = { action: "decide", decision: { action: "retry" }, by: "ada" } as const;
    const planned = await outcomes(runtime, decide, { dryRun: true });
    expect(planned).toMatchObject([
      { workflowId: "a", outcome: "planned", incidents: ["left", "right"] },
      { workflowId: "b", incidents: ["left", "right"] },
    ]);
    isBroken = false;
    expect(said(await outcomes(runtime, decide))).toEqual(["a done", "b done"]);
    await environment.settle();
    expect(await statusOf(runtime, "a")).toBe("completed");
    expect(await outcomes(runtime, decide)).toEqual([]);
  });

  it("tells of one that refuses, and goes on with the others", async () => {
    const { runtime } = await started("asks", ["a", "b"]);
    const wrong = await outcomes(runtime, { action: "fork", suffix: "x", node: "nowhere" });
    expect(wrong).toMatchObject([
      { workflowId: "a", outcome: "refused", error: { code: "NODE_UNKNOWN" } },
      { workflowId: "b", outcome: "refused" },
    ]);
    expect((await runtime.list()).items).toHaveLength(2);
  });

  it("cancels an execution before the detached one that it has begun, which ends with it", async () => {
    const nodesOf = { ...builtinNodes, ...nodes } as never;
    const parent = { id: "parent", nodes: [{ id: "child", type: "workflow", data: { workflow: "asks", detached: true } }], edges: [] };
    const { runtime, environment } = setUp({ nodeDefinitions: nodesOf, workflows: [...workflows, parent] });
    await runtime.start("parent", { workflowId: "p" });
    await environment.advance(1_000);
    expect((await runtime.list()).items).toHaveLength(2);
    await outcomes(runtime, { action: "cancel" });
    await environment.settle();
    expect((await runtime.list()).items.map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  });

  it("leaves alone what is created meanwhile", async () => {
    const { runtime, environment } = await started("asks", ["a"]);
    const bulk = runtime.bulk({ action: "cancel" });
    expect((await bulk.next()).value).toMatchObject({ workflowId: "a" });
    await environment.advance(5);
    await runtime.start("asks", { workflowId: "b" });
    expect((await bulk.next()).done).toBe(true);
    expect(await statusOf(runtime, "b")).toBe("paused");
  });

  it("passes over what was deleted meanwhile", async () => {
    const { runtime, environment } = setUp({ nodeDefinitions: nodes as never, workflows });
    for (const workflowId of ["a", "b"]) await runtime.start("works", { workflowId });
    isBroken = true;
    await environment.settle();
    const bulk = runtime.bulk({ action: "restart" }, { dryRun: true });
    expect((await bulk.next()).value).toMatchObject({ outcome: "planned" });
    await runtime.prune({ before: environment.now() + 1 });
    expect(await bulk.next()).toEqual({ done: true, value: undefined });
  });

  it.each<[string, object, object, string]>([
    ["an action that there is not", { action: "delete" }, {}, "must be cancel, retry"],
    ["no action", {}, {}, "must be cancel, retry"],
    ["options of another action", { action: "cancel", suffix: "x" }, {}, 'no option "suffix"'],
    ["a fork without a suffix", { action: "fork", suffix: "" }, {}, '"suffix" must be a text'],
    ["a status to which it cannot be done", { action: "cancel" }, { where: { status: ["failed"] } }, 'must not be "failed"'],
    ["a wrong limit", { action: "cancel" }, { limit: 0 }, '"limit" must be'],
    ["a part of a list", { action: "cancel" }, { where: { cursor: "x" } }, 'where of runtime.bulk has no option "cursor"'],
    [
      "a filter of another form",
      { action: "cancel" },
      { where: { metadata: { n: { gt: "1", lt: 2 } } } },
      '"metadata.n.lt" must be of the same type',
    ],
    ["misspelt options", { action: "cancel" }, { dryrun: true }, 'Did you mean "dryRun"'],
  ])("refuses %s, and does nothing", async (_, action, options, message) => {
    const { runtime } = await started("asks", ["a"]);
    await expect(outcomes(runtime, action as BulkAction, options)).rejects.toThrow(message);
    expect(await statusOf(runtime, "a")).toBe("paused");
  });

  it("ends with the runtime", async () => {
    const { runtime } = await started("asks", ["a"]);
    const closing = runtime.close({ timeoutMs: 1 });
    await expect(outcomes(runtime, { action: "cancel" })).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
    await closing;
  });
});
