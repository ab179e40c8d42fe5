import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defineNode } from "../../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, dying, hour, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

let acts: string[] = [];
beforeEach(() => {
  acts = [];
});

const nodes = {
  ...nodeDefinitions,
  ...builtinNodes,
  act: defineNode({
    executor: (data, step) => {
      acts.push(`${step.nodeId} ${step.idempotencyKey}`);
      return { data };
    },
  }),
  again: defineNode({
    executor: (_data, step) =>
      (step.input as { round: number }).round < 3
        ? { continueAs: { input: { round: (step.input as { round: number }).round + 1 } } }
        : { data: "over" },
  }),
};
const order = {
  id: "order",
  finally: "release",
  timeout: "5h",
  nodes: [
    { id: "pay", type: "act", compensate: { type: "act" } },
    { id: "ask", type: "ask" },
    { id: "ship", type: "set", data: "shipped" },
    { id: "release", type: "act", data: "{{ execution.end.status }}" },
    { id: "pause", type: "wait", data: { for: "1h" } },
    { id: "tell", type: "act", data: "{{ execution.end.error?.code ?? 'none' }}" },
  ],
  edges: [
    { source: "pay", target: "ask" },
    { source: "ask", target: "ship" },
    { source: "release", target: "pause" },
    { source: "pause", target: "tell" },
  ],
};
const parent = {
  id: "parent",
  nodes: [{ id: "child", type: "workflow", data: { workflow: "order", detached: true, workflowId: "c" } }],
  edges: [],
};
const cycle = {
  id: "cycle",
  finally: "bye",
  nodes: [
    { id: "again", type: "again" },
    { id: "bye", type: "act" },
  ],
  edges: [],
};
const workflows = [order, parent, cycle] as never;
const living = (more: object = {}, environment?: Parameters<typeof setUp>[1]): ReturnType<typeof setUp> =>
  setUp({ nodeDefinitions: nodes as never, workflows, ...more }, environment);
const names = (): string[] => acts.map((act) => act.split(" ")[0]!);

describe("what runs at the end of an execution", () => {
  it("is over before anybody is told of the end", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("parent");
    await environment.settle();
    await (await runtime.get("c")).resume({ payload: { approved: true } });
    await environment.settle();
    expect(await (await runtime.get("c")).snapshot()).toMatchObject({
      status: "paused",
      closing: { status: "completed", output: "shipped" },
    });
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
    await environment.advance(hour + second);
    expect(await run.result()).toBe("shipped");
    expect(names()).toEqual(["pay", "release", "tell"]);
  });

  it("goes on although its parent is cancelled meanwhile, and runs where the parent ends it", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("parent");
    await environment.settle();
    await run.cancel();
    await environment.settle();
    const child = await runtime.get("c");
    expect(await child.snapshot()).toMatchObject({ status: "paused", closing: { status: "cancelled" } });
    expect(names()).toEqual(["pay", "pay", "release"]);
    await environment.advance(hour + second);
    expect(await child.snapshot()).toMatchObject({ status: "cancelled" });
    expect(names().at(-1)).toBe("tell");
  });

  it("runs once, in order, whenever the process dies", { timeout: 120_000 }, async () => {
    for (const [what, expected] of [
      ["completed", ["pay", "release", "tell"]],
      ["cancelled", ["pay", "pay", "release", "tell"]],
      ["failed", ["pay", "pay", "release", "tell"]],
    ] as const) {
      for (let commits = 0; commits < 12; commits++) {
        acts = [];
        const environment = virtualEnvironment();
        const store = memoryStore({ now: () => environment.now() });
        const mortal = dying(environment);
        let left = commits;
        const counting = {
          ...store,
          commit: async (commit: Parameters<typeof store.commit>[0]) => {
            // the worker dies before or after the store has taken the commit
            if (left-- === 0) {
              if (commits % 2 === 0) await store.commit(commit);
              mortal.die();
              return new Promise<void>(() => undefined);
            }
            return store.commit(commit);
          },
        };
        const hands = living({ store, drive: false }, environment).runtime;
        const run = await hands.start("order", { workflowId: "o" });
        setUp({ store: counting, nodeDefinitions: nodes as never, workflows }, mortal.environment as never);
        await environment.advance(5 * 60 * second);
        living({ store }, environment);
        await environment.advance(5 * 60 * second);
        if (what === "completed") await run.resume({ payload: { approved: true } });
        if (what === "cancelled") await run.cancel();
        await environment.advance(what === "failed" ? 8 * hour : 2 * hour);
        expect([commits, (await store.load("o"))!.status]).toEqual([commits, what]);
        // a step that was under way when the process died is performed again with the same key, so each key is compared once
        expect([...new Set(acts)].map((act) => act.split(" ")[0])).toEqual(expected);
      }
    }
  });

  it("is nothing to fork from, and a restart goes on before it", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("order", { workflowId: "o" });
    await environment.settle();
    await run.cancel();
    await environment.settle();
    await expect(run.fork()).rejects.toMatchObject({ code: "FORK_REFUSED" });
    await expect(run.fork({ node: "release" })).rejects.toMatchObject({ code: "FORK_REFUSED" });
    await environment.advance(2 * hour);
    await run.restart({ compensated: "keep" });
    await environment.settle();
    await run.resume({ payload: { approved: true } });
    await environment.advance(2 * hour);
    expect(await run.result()).toBe("shipped");
    expect(names().filter((name) => name === "tell")).toHaveLength(2);
  });

  it("runs once, at the end of the last run", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("cycle", { workflowId: "c", input: { round: 1 } });
    await environment.settle();
    expect(await run.result()).toBe("over");
    expect(acts).toEqual(["bye c/finally#1"]);
  });

  it("has no deadline, and can be given up", async () => {
    const { runtime, environment } = living();
    const run = await runtime.start("order", { workflowId: "o" });
    await environment.advance(5 * hour + second);
    expect(await run.snapshot()).toMatchObject({ status: "paused", closing: { status: "failed", error: { code: "EXECUTION_TIMED_OUT" } } });
    await expect(run.cancel()).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
    await run.cancel({ step: "pause" });
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { code: "EXECUTION_TIMED_OUT" } });
    expect(names()).toEqual(["pay", "pay", "release"]);
  });

  it("leaves nothing readable in an encrypted store", async () => {
    const environment = virtualEnvironment();
    const plain = memoryStore({ now: () => environment.now() });
    const secret = {
      id: "secret",
      finally: "b",
      nodes: [
        { id: "a", type: "set", data: "canary" },
        { id: "b", type: "ask" },
      ],
      edges: [],
    };
    const store = encryptedStore(plain, { keys: [{ id: "k1", key: new Uint8Array(32).fill(7) }] });
    const { runtime } = living({ store, workflows: [secret] }, environment);
    const run = await runtime.start("secret", { workflowId: "s" });
    expect(await run.settled()).toMatchObject({ closing: { output: "canary" } });
    expect(JSON.stringify(await plain.loadHead("s"))).not.toContain("canary");
  });
});
