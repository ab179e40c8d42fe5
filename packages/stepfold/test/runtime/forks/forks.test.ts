import { afterEach, describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/snapshot/event.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, hour, line, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";
import { codeOf, effects, failing, moreNodes, start, whatWasDone } from "./forks.fixture.ts";

afterEach(closeAll);

describe("run.fork", () => {
  it("goes on from the last time at a node, with another input or with its output given", async () => {
    const { runtime } = start();
    const run = await runtime.start("plain", { workflowId: "p", input: { amount: 5 } });
    await run.result();
    const plan = await run.planFork({ node: "pay" });
    expect(plan).toMatchObject({ from: { workflowId: "p", version: 0, reason: "fork" }, nodes: ["pay"] });
    expect(plan.performsAgain.map(({ nodeId }) => nodeId)).toEqual(["pay", "send"]);
    effects.done = [];
    expect(await (await run.fork({ node: "pay", input: { amount: 7 } })).result()).toBe("mended");
    expect(whatWasDone()).toEqual(['pay {"amount":7}', "fragile 1"]);
    effects.done = [];
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

describe("a history of which parts belong to another past", () => {
  it("is refused, by a fork and by a restart", async () => {
    const { runtime, environment, store } = start();
    const { workflowId } = await failing(runtime, environment, "plain");
    const mixed = {
      ...store,
      events: async (...asked: Parameters<typeof store.events>) =>
        (await store.events(...asked)).map((row) =>
          row.version === 1 ? { ...row, event: { ...row.event, pathId: "0.7" } as Event } : row,
        ),
    };
    const { runtime: other } = setUp({ store: mixed, nodeDefinitions: {}, workflows: [], drive: false }, environment);
    const run = await other.get(workflowId);
    for (const asked of [run.fork({ node: "send" }), run.restart()])
      await expect(asked).rejects.toMatchObject({
        code: "FORK_REFUSED",
        message: expect.stringContaining("do not follow from each other"),
      });
  });
});

describe("a process that has no code of the nodes", () => {
  it("forks and restarts all the same", async () => {
    const { runtime, environment, store } = start();
    const failed = await failing(runtime, environment, "plain");
    const { runtime: hands } = setUp({ store, nodeDefinitions: {}, workflows: [], drive: false }, environment);
    const run = await hands.get(failed.workflowId);
    await run.restart();
    const forked = await run.fork({ node: "send", workflowId: "by-hand" });
    await environment.advance(5 * second);
    for (const { workflowId } of [run, forked]) expect(await (await runtime.get(workflowId)).result()).toBe("mended");
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
