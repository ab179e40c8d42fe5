import { afterEach, describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/snapshot/event.ts";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { Run } from "../../../src/runtime/handle/run.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, hour, line, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

/** The effects of the nodes below, in order, with their idempotency keys. */
let done: { readonly what: string; readonly key: string }[] = [];
let isBroken = false;
const moreNodes = {
  ...nodeDefinitions,
  pay: defineNode({
    executor: (_data, step) => {
      done.push({ what: `pay ${JSON.stringify(step.input)}`, key: step.idempotencyKey });
      return { data: { paid: true } };
    },
  }),
  askLate: defineNode({
    executor: (_data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend(null, { timeout: "1h" })),
  }),
  refund: defineNode({
    executor: (_data, step) => {
      done.push({ what: "refund", key: step.idempotencyKey });
      return { data: null };
    },
  }),
  fragile: defineNode({
    retryPolicy: { maxAttempts: 2, interval: "1s", backoff: "fixed" },
    executor: (_data, step) => {
      done.push({ what: `fragile ${step.attempt}`, key: step.idempotencyKey });
      if (isBroken) throw new Error("it is broken");
      return { data: "mended" };
    },
  }),
};

const order = {
  id: "order",
  nodes: [
    { id: "pay", type: "pay", compensate: { type: "refund" } },
    { id: "send", type: "fragile" },
  ],
  edges: [{ source: "pay", target: "send" }],
};
const plain = {
  id: "plain",
  nodes: [
    { id: "pay", type: "pay" },
    { id: "send", type: "fragile" },
  ],
  edges: order.edges,
};
const late = {
  id: "late",
  nodes: [
    { id: "ask", type: "askLate" },
    { id: "say", type: "say", data: "said" },
  ],
  edges: [{ source: "ask", target: "say" }],
};

function start() {
  done = [];
  isBroken = false;
  return setUp({ nodeDefinitions: moreNodes, workflows: [order, plain, late, line("talk", "say", "ask", "say")] });
}

const whatWasDone = (): string[] => done.map(({ what }) => what);
const codeOf = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "no error",
    ({ code }) => code,
  );

async function failing(
  runtime: ReturnType<typeof setUp>["runtime"],
  environment: ReturnType<typeof virtualEnvironment>,
  workflow: string,
): Promise<Run> {
  isBroken = true;
  const run = await runtime.start(workflow, { workflowId: "o-1", input: { amount: 5 } });
  const failed = codeOf(run.result());
  await environment.advance(5 * second);
  expect(await failed).toBe("EXECUTION_FAILED");
  isBroken = false;
  return run;
}

describe("run.restart", () => {
  it("goes on where the execution failed: what was done is not done again, and the step has all its attempts", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    isBroken = true;
    const restarted = await run.restart();
    expect(restarted.workflowId).toBe("o-1~2");
    const failed = codeOf(restarted.result());
    await environment.advance(5 * second);
    expect(await failed).toBe("EXECUTION_FAILED");
    expect(whatWasDone()).toEqual(['pay {"amount":5}', "fragile 1", "fragile 2", "fragile 1", "fragile 2"]);
    isBroken = false;
    const third = await restarted.restart();
    expect(third.workflowId).toBe("o-1~3");
    expect(await third.result()).toBe("mended");
    const snapshot = await third.snapshot();
    expect(snapshot).toMatchObject({ status: "completed", input: { amount: 5 }, from: { workflowId: "o-1~2", reason: "restart" } });
    expect(snapshot.context.pay).toMatchObject([{ output: { paid: true } }]);
    // only the two attempts of one visit share a key, in each of the two executions that failed
    expect(new Set(done.map(({ key }) => key)).size).toBe(done.length - 2);
  });

  it("sent twice is one restart", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    const [one, two] = await Promise.all([run.restart(), run.restart()]);
    expect([one.workflowId, two.workflowId]).toEqual(["o-1~2", "o-1~2"]);
    expect(await one.result()).toBe("mended");
    expect((await run.restart()).workflowId).toBe("o-1~2");
    expect(whatWasDone().filter((what) => what.startsWith("pay"))).toHaveLength(1);
  });

  it("is refused where its id is taken by an execution that is none", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    await runtime.start("talk", { workflowId: "o-1~2" });
    expect(await codeOf(run.restart())).toBe("START_CONFLICT");
    // the other execution with this id is not taken for the restart
    expect(await codeOf(run.result())).toBe("EXECUTION_FAILED");
  });

  it("is followed by whoever waits for the execution, or starts it again", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    expect((await run.latest()).workflowId).toBe("o-1");
    const restarted = await run.restart();
    expect(await run.result()).toBe("mended");
    expect(await run.settled()).toMatchObject({ workflowId: "o-1~2", status: "completed" });
    expect((await run.latest()).workflowId).toBe("o-1~2");
    expect((await runtime.start("plain", { workflowId: "o-1", input: { amount: 5 } })).workflowId).toBe(restarted.workflowId);
    expect(await codeOf(run.result({ follow: false }))).toBe("EXECUTION_FAILED");
    expect(await run.settled({ follow: false })).toMatchObject({ workflowId: "o-1", status: "failed" });
    expect((await runtime.start("plain", { workflowId: "o-1", input: { amount: 5 }, follow: false })).workflowId).toBe("o-1");
  });

  it("is not followed into an execution that another one with this id was restarted as", async () => {
    const { runtime, environment, store } = start();
    const run = await failing(runtime, environment, "plain");
    await (await run.restart()).result();
    await store.delete("o-1");
    expect(await codeOf(run.result())).toBe("WORKFLOW_NOT_FOUND");
  });

  it("asks what is to become of steps that were undone", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "order");
    expect(whatWasDone()).toEqual(['pay {"amount":5}', "fragile 1", "fragile 2", "refund"]);
    await expect(run.restart()).rejects.toMatchObject({ code: "RESTART_COMPENSATED", details: { nodes: ["pay"] } });
    done = [];
    expect(await (await run.restart({ compensated: "again" })).result()).toBe("mended");
    expect(whatWasDone()).toEqual(['pay {"amount":5}', "fragile 1"]);
  });

  it("counts steps that were undone as done, if that is said", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "order");
    done = [];
    expect(await (await run.restart({ compensated: "keep" })).result()).toBe("mended");
    expect(whatWasDone()).toEqual(["fragile 1"]);
  });

  it("undoes what was taken over, if it fails again", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "order");
    done = [];
    isBroken = true;
    const again = await run.restart({ compensated: "keep" });
    const failed = codeOf(again.result());
    await environment.advance(5 * second);
    expect(await failed).toBe("EXECUTION_FAILED");
    expect(whatWasDone()).toEqual(["fragile 1", "fragile 2", "refund"]);
  });

  it("gives a wait that was not answered its whole time again", async () => {
    const { runtime, environment } = start();
    const run = await runtime.start("late", { workflowId: "l" });
    const failed = codeOf(run.result());
    await environment.advance(2 * hour);
    expect(await failed).toBe("EXECUTION_FAILED");
    await environment.advance(5 * hour);
    const again = await run.restart();
    const [path] = (await again.snapshot()).activePaths;
    expect(path!.waits![0]!.timeoutAt! - environment.now()).toBe(hour);
    await again.resume({ payload: { approved: true } });
    expect(await again.result()).toBe("said");
  });

  it("is refused for what has not ended, and for what has completed", async () => {
    const { runtime } = start();
    const open = await runtime.start("talk", { workflowId: "open" });
    await open.settled();
    await expect(open.restart()).rejects.toMatchObject({ code: "FORK_REFUSED", message: expect.stringContaining("it is paused") });
    const run = await runtime.start("plain", { workflowId: "good" });
    await run.result();
    await expect(run.restart()).rejects.toMatchObject({ code: "FORK_REFUSED", message: expect.stringContaining("it has completed") });
  });

  it("goes on with a mended definition, and is refused where that lacks the node", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "plain");
    const other = { ...plain, nodes: [plain.nodes[0]!, { id: "post", type: "fragile" }], edges: [{ source: "pay", target: "post" }] };
    expect(await codeOf(run.restart({ definition: other }))).toBe("DEFINITION_CHANGED");
    const mended = { ...plain, nodes: [plain.nodes[0]!, { id: "send", type: "say", data: "by post" }] };
    expect(await (await run.restart({ definition: mended })).result()).toBe("by post");
  });
});

describe("run.fork", () => {
  it("goes on from the last time at a node, with another input or with its output given", async () => {
    const { runtime } = start();
    const run = await runtime.start("plain", { workflowId: "p", input: { amount: 5 } });
    await run.result();
    const plan = await run.planFork({ node: "pay" });
    expect(plan).toMatchObject({ from: { workflowId: "p", version: 0, reason: "fork" }, nodes: ["pay"] });
    expect(plan.performsAgain.map(({ nodeId }) => nodeId)).toEqual(["pay", "send"]);
    done = [];
    expect(await (await run.fork({ node: "pay", input: { amount: 7 } })).result()).toBe("mended");
    expect(whatWasDone()).toEqual(['pay {"amount":7}', "fragile 1"]);
    done = [];
    const told = await run.fork({ node: "pay", output: { paid: "by hand" }, workflowId: "told" });
    expect(await told.result()).toBe("mended");
    expect(whatWasDone()).toEqual(["fragile 1"]);
    expect((await told.snapshot()).context.pay).toMatchObject([{ output: { paid: "by hand" } }]);
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
  });

  it("keeps waits with the time that was left to them, and is answered for itself", async () => {
    const { runtime, environment } = start();
    const run = await runtime.start("late", { workflowId: "l" });
    await environment.advance(hour / 4);
    const fork = await run.fork({ workflowId: "l-fork" });
    await environment.advance(hour / 4);
    const left = (await fork.snapshot()).activePaths[0]!.waits![0]!.timeoutAt! - environment.now();
    expect(left).toBe(hour / 2);
    await fork.resume({ payload: { approved: true } });
    expect(await fork.result()).toBe("said");
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
    expect((await run.fork({ workflowId: "l-fork" })).workflowId).toBe("l-fork");
  });

  it("goes on from an earlier version with the time that was left when that version ended", async () => {
    const { runtime, environment } = start();
    const run = await runtime.start("late", { workflowId: "l" });
    await environment.advance(hour / 4);
    await run.resume({ payload: { approved: true } });
    await run.result();
    await environment.advance(9 * hour);
    const fork = await run.fork({ version: 1 });
    expect((await fork.snapshot()).activePaths[0]!.waits![0]!.timeoutAt! - environment.now()).toBe((hour * 3) / 4);
  });

  it("is another one each time, where no id says that it is the same", async () => {
    const { runtime } = start();
    const run = await runtime.start("talk", { workflowId: "t" });
    await run.settled();
    const forks = await Promise.all([run.fork(), run.fork(), run.fork()]);
    expect(new Set(forks.map(({ workflowId }) => workflowId)).size).toBe(3);
  });

  it("has a history of its own, which watching and loading understand", async () => {
    const { runtime, store } = start();
    const run = await runtime.start("talk", { workflowId: "t" });
    await run.settled();
    const fork = await run.fork({ workflowId: "f" });
    await fork.resume({ payload: { approved: true } });
    await fork.result();
    const events: Event[] = [];
    for await (const { event, snapshot } of fork.watch()) {
      events.push(event);
      expect(snapshot.version).toBe(event.version);
      expect(snapshot.context.say0).toHaveLength(1);
    }
    expect(events.map(({ type }) => type)).toEqual(["started", "resumed", "completed", "completed"]);
    expect(await store.load("f")).toMatchObject({
      from: { workflowId: "t", version: 2 },
      context: { say0: [{ version: -1 }], ask1: [{ version: 2 }] },
    });
  });

  it("takes over maps and sub-workflows with their items", async () => {
    const inner = {
      id: "inner",
      nodes: [
        { id: "ask", type: "ask", data: "?" },
        { id: "say", type: "say", data: "ok" },
      ],
      edges: [{ source: "ask", target: "say" }],
    };
    const outer = {
      id: "outer",
      workflows: { inner },
      nodes: [{ id: "all", type: "map", data: { workflow: "inner", items: [1, 2, 3] } }],
      edges: [],
    };
    const { runtime } = setUp({ nodeDefinitions: { ...builtinNodes, ...moreNodes }, workflows: [outer] });
    const run = await runtime.start("outer", { workflowId: "m" });
    await run.settled();
    await run.resume({ step: "all[0]/ask", payload: { approved: true } });
    await run.settled();
    const fork = await run.fork({ workflowId: "mf" });
    for (const item of [1, 2]) await fork.resume({ step: `all[${item}]/ask`, payload: { approved: true } });
    expect(await fork.result()).toEqual(["ok", "ok", "ok"]);
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
  });

  it("hides what it holds from a store that must not read it", async () => {
    const environment = virtualEnvironment();
    const inner = memoryStore({ now: () => environment.now() });
    const store = encryptedStore(inner, { keys: [{ id: "k", key: new Uint8Array(32).fill(7) }] });
    const { runtime } = setUp({ store, nodeDefinitions: moreNodes, workflows: [line("talk", "say", "ask", "say")] }, environment);
    const run = await runtime.start("talk", { workflowId: "t", input: { secret: "sesame" } });
    await run.settled();
    const fork = await run.fork({ workflowId: "f" });
    const [row] = await inner.events("f", -1, 1);
    expect(JSON.stringify(row)).not.toContain("sesame");
    expect(JSON.stringify(await inner.load("f"))).not.toContain("sesame");
    await fork.resume({ payload: { approved: true } });
    await fork.result();
    expect((await fork.snapshot()).context.say0).toMatchObject([{ output: { text: "say" } }]);
  });

  it("is refused where nothing can go on, with what is wrong", async () => {
    const { runtime, environment } = start();
    const run = await failing(runtime, environment, "order");
    const { version } = await run.snapshot();
    for (const wrong of [-1, version + 1, 1.5, Number.NaN])
      expect(await codeOf(run.fork({ version: wrong })), String(wrong)).toBe("FORK_REFUSED");
    expect(await codeOf(run.fork({ version }))).toBe("FORK_REFUSED");
    expect(await codeOf(run.fork({ node: "nowhere" }))).toBe("NODE_UNKNOWN");
    expect(await codeOf(run.fork({ output: 1 }))).toBe("OPTION_INVALID");
    expect(await codeOf(run.fork({ node: "pay", version: 0 }))).toBe("OPTION_INVALID");
    expect(await codeOf(run.fork({ nod: "pay" } as never))).toBe("OPTION_UNKNOWN");
    expect(await codeOf(run.restart({ compensated: "maybe" as never }))).toBe("OPTION_INVALID");
    expect(await codeOf(run.fork({ node: "pay", definition: "unknown" }))).toBe("DEFINITION_UNKNOWN");
  });
});

describe("runtime.adopt", () => {
  it("takes over what the engine drove without a store, also one of another engine that names one node", async () => {
    const { runtime, environment } = start();
    const engine = new WorkflowEngine({ workflow: line("talk", "say", "ask", "say"), nodeDefinitions, environment });
    const paused = await engine.execute({ workflowId: "old", input: { a: 1 }, metadata: { team: "blue" } });
    const run = await runtime.adopt("talk", JSON.parse(JSON.stringify(paused)));
    expect((await runtime.adopt("talk", paused)).workflowId).toBe("old");
    expect(await run.snapshot()).toMatchObject({
      status: "paused",
      input: { a: 1 },
      metadata: { team: "blue" },
      from: { reason: "adopt" },
    });
    await run.resume({ payload: { approved: true } });
    expect(await run.result()).toEqual({ text: "say" });

    const classic = { workflowId: "classic", status: "paused", currentNodeId: "ask1", context: {}, version: 3, metadata: {} };
    const other = await runtime.adopt("talk", classic);
    await other.settled();
    await other.resume({ payload: { approved: true } });
    expect(await other.result()).toEqual({ text: "say" });
  });

  it("refuses what has ended, what is damaged, and what stands elsewhere", async () => {
    const { runtime } = start();
    const classic = { workflowId: "c", status: "paused", currentNodeId: "ask1", context: {}, version: 3, metadata: {} };
    expect(await codeOf(runtime.adopt("talk", { ...classic, status: "completed", currentNodeId: null }))).toBe("FORK_REFUSED");
    expect(await codeOf(runtime.adopt("talk", { ...classic, currentNodeId: "gone" }))).toBe("DEFINITION_CHANGED");
    expect(await codeOf(runtime.adopt("talk", { ...classic, version: "x" }))).toBe("SNAPSHOT_INVALID");
    expect(await codeOf(runtime.adopt("talk", classic, { id: "x" } as never))).toBe("OPTION_UNKNOWN");
    expect(await codeOf(runtime.adopt("nothing", classic))).toBe("DEFINITION_UNKNOWN");
    await runtime.start("talk", { workflowId: "c" });
    expect(await codeOf(runtime.adopt("talk", classic))).toBe("START_CONFLICT");
  });
});

describe("a process that has no code of the nodes", () => {
  it("forks and restarts all the same", async () => {
    const { runtime, environment, store } = start();
    const failed = await failing(runtime, environment, "plain");
    const { runtime: hands } = setUp({ store, nodeDefinitions: {}, workflows: [], drive: false }, environment);
    const run = await hands.get(failed.workflowId);
    const restarted = await run.restart();
    const forked = await run.fork({ node: "send", workflowId: "by-hand" });
    await environment.advance(5 * second);
    for (const { workflowId } of [restarted, forked]) expect(await (await runtime.get(workflowId)).result()).toBe("mended");
  });

  it("is told when what it goes on from is gone", async () => {
    const { runtime, store } = start();
    const run = await runtime.start("plain", { workflowId: "p" });
    await run.result();
    await store.delete("p");
    expect(await codeOf(run.fork())).toBe("WORKFLOW_NOT_FOUND");
    expect(await codeOf(run.restart())).toBe("WORKFLOW_NOT_FOUND");
  });
});
