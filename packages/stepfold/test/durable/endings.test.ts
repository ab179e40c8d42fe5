import { afterEach, describe, expect, it } from "vitest";
import { defineDurable } from "../../src/durable/define-durable.ts";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { closeAll, hour, setUp } from "../runtime/runtime.fixture.ts";
import { failing, pass, quiet, started, story } from "./durable.fixture.ts";

afterEach(closeAll);

describe("a restart of durable code that has failed", () => {
  it("performs the step again with whose error the code failed, under its key, and no other", async () => {
    const bank = failing();
    const keys: string[] = [];
    let prepared = 0;
    const workflow = defineDurable({
      id: "order",
      async run({ step }) {
        await step.run("prepare", () => void prepared++);
        return step.run("charge", { retry: { maxAttempts: 2, interval: "1s" } }, ({ idempotencyKey }) => {
          keys.push(idempotencyKey);
          return bank.call();
        });
      },
    });
    const { run, environment } = await started(workflow);
    await pass(environment, run, 1_100);
    expect(await run.snapshot()).toMatchObject({ status: "failed", error: { code: "NOT_NOW", nodeId: "charge" } });
    await run.restart();
    await quiet(environment, run);
    // it has all its attempts again
    expect([bank.calls(), (await run.snapshot()).status]).toEqual([3, "error"]);
    bank.allow();
    await pass(environment, run, 1_100);
    expect([await run.result(), prepared, new Set(keys)]).toEqual(["done", 1, new Set(["one/0.2#1"])]);
  });

  it("performs nothing again if the code itself threw", async () => {
    let isRight = false;
    let performed = 0;
    const workflow = defineDurable({
      id: "throws",
      async run({ step }) {
        const value = await step.run("read", () => ++performed);
        if (!isRight) throw new Error("the code is wrong");
        return value;
      },
    });
    const { run } = await started(workflow);
    expect((await run.snapshot()).error).toMatchObject({ message: "the code is wrong", nodeId: "throws" });
    isRight = true;
    await run.restart();
    expect([await run.result(), performed]).toEqual([1, 1]);
  });

  it("leaves the error of a step alone that the code has caught before", async () => {
    const caught = failing("caught");
    const thrown = failing("thrown");
    const workflow = defineDurable({
      id: "catches",
      async run({ step }) {
        const first = await step.run("try", caught.call).catch(() => "caught");
        return [first, await step.run("must", thrown.call)];
      },
    });
    const { run } = await started(workflow);
    caught.allow();
    thrown.allow();
    await run.restart();
    expect([await run.result(), caught.calls(), thrown.calls()]).toEqual([["caught", "done"], 1, 2]);
  });

  it("finds the step in an error that the code has wrapped, and in that of Promise.any", async () => {
    const inside = failing();
    const workflow = defineDurable({
      id: "wraps",
      async run({ step }) {
        const first = await step.run("inside", inside.call).catch((error: unknown) => {
          throw new Error("it went wrong", { cause: error });
        });
        return first;
      },
    });
    const { run } = await started(workflow);
    expect((await run.snapshot()).error).toMatchObject({ message: "it went wrong", nodeId: "inside" });
    inside.allow();
    await run.restart();
    expect(await run.result()).toBe("done");
  });

  it("opens the loser of a race as it was, and the winner keeps its result", async () => {
    const last = failing();
    const workflow = defineDurable({
      id: "raced",
      waits: { answer: true },
      async run({ step }) {
        const answer = step.waitFor("answer");
        const winner = await Promise.race([answer, step.run("quick", () => "quick")]);
        await step.run("last", last.call);
        return { winner, answer: await answer };
      },
    });
    const { run, environment } = await started(workflow);
    expect((await run.snapshot()).status).toBe("failed");
    last.allow();
    await run.restart();
    await quiet(environment, run);
    expect((await run.waits())[0]).toMatchObject({ id: "0.1@2", address: "answer" });
    await run.resume({ step: "answer", payload: 5 });
    expect(await run.result()).toEqual({ winner: "quick", answer: 5 });
  });

  it("gives new keys if it is asked to", async () => {
    const bank = failing();
    const keys: string[] = [];
    const workflow = defineDurable({
      id: "anew",
      async run({ step }) {
        await step.run("charge", ({ idempotencyKey }) => {
          keys.push(idempotencyKey);
          return bank.call();
        });
        await step.run("after", ({ idempotencyKey }) => void keys.push(idempotencyKey));
      },
    });
    const { run } = await started(workflow);
    bank.allow();
    await run.restart({ keys: "new" });
    await run.result();
    expect(keys[0]).toBe("one/0.1#1");
    expect(new Set(keys).size).toBe(3);
  });

  it("with compensated: again performs what was undone under new keys, and what came before not", async () => {
    const last = failing();
    const keys: string[] = [];
    const undone: string[] = [];
    const note = ({ idempotencyKey }: { idempotencyKey: string }): number => keys.push(idempotencyKey);
    const workflow = defineDurable({
      id: "undone",
      nodes: { refund: defineNode({ executor: (_data, step) => ({ data: undone.push(step.nodeId) }) }) },
      async run({ step }) {
        await step.run("before", note);
        await step.run("pay", { undo: { type: "refund" } }, note);
        return step.run("last", last.call);
      },
    });
    const { run } = await started(workflow);
    expect([(await run.snapshot()).status, undone]).toEqual(["failed", ["pay"]]);
    last.allow();
    await run.restart({ compensated: "again" });
    expect(await run.result()).toBe("done");
    expect([keys[0], keys[1], keys.length, new Set(keys).size]).toEqual(["one/0.1#1", "one/0.2#1", 3, 3]);
  });
});

describe("the end of durable code", () => {
  it("undoes its steps, the newest first, after a failure and after a cancellation, each with what it gave", async () => {
    const undone: unknown[] = [];
    const refund = defineNode({
      executor: (data, { compensating, nodeId }) => {
        undone.push([nodeId, data, compensating?.completed && compensating.output]);
        return { data: null };
      },
    });
    const workflow = defineDurable({
      id: "saga",
      nodes: { refund },
      waits: { go: true },
      async run({ step }) {
        await step.run("flight", { undo: { type: "refund", data: { what: "flight" } } }, () => "F1");
        await step.run("hotel", { undo: { type: "refund", data: { what: "hotel" } } }, () => "H1");
        await step.waitFor("go");
        throw new Error("no car");
      },
    });
    const expected = [
      ["hotel", { what: "hotel" }, "H1"],
      ["flight", { what: "flight" }, "F1"],
    ];
    const { run, runtime } = await started(workflow);
    await run.resume({ step: "go", payload: null });
    await run.settled();
    expect([(await run.snapshot()).status, undone.splice(0)]).toEqual(["failed", expected]);
    const other = await runtime.start(workflow, { workflowId: "two" });
    await other.waitFor({ step: "go" });
    await other.cancel();
    await other.settled();
    expect([(await other.snapshot()).status, undone]).toEqual(["cancelled", expected]);
  });

  it("undoes a step that had begun and not completed when the execution was cancelled", async () => {
    const undone: unknown[] = [];
    const workflow = defineDurable({
      id: "begun",
      nodes: { refund: defineNode({ executor: (_data, { compensating }) => ({ data: undone.push(compensating) }) }) },
      run: ({ step }) => step.run("pay", { undo: { type: "refund" } }, () => new Promise(() => undefined)),
    });
    const { run, environment } = await started(workflow);
    expect(await story(run)).toEqual(["started", "begun pay"]);
    await run.cancel();
    await quiet(environment, run);
    expect(undone).toEqual([{ completed: false, idempotencyKey: "one/0.1#1" }]);
  });

  it("gives a cancelled step as an error, which is the same in every replay", async () => {
    const seen: unknown[] = [];
    const workflow = defineDurable({
      id: "cancelled",
      waits: { answer: true, other: true },
      async run({ step }) {
        await step.waitFor("answer").catch(({ message, code }: Error & { code?: string }) => seen.push([code, message]));
        await step.waitFor("other");
      },
    });
    const { run, environment } = await started(workflow);
    await run.cancel({ step: "answer", reason: "not needed" });
    await quiet(environment, run);
    await run.resume({ step: "other", payload: 1 });
    await run.result();
    expect(seen).toEqual([
      ["EXECUTION_CANCELLED", "not needed"],
      ["EXECUTION_CANCELLED", "not needed"],
    ]);
  });

  it("stays open as an incident, and is decided: again, without the step, or with its error", async () => {
    const bank = failing();
    const workflow = defineDurable({
      id: "incidents",
      async run({ step }) {
        const results: unknown[] = [];
        for (let i = 0; i < 3; i++)
          results.push(
            await step
              .run("charge", { incident: true }, () =>
                i === 0 ? bank.call() : Promise.reject(Object.assign(new Error("no"), { code: "NO" })),
              )
              .catch((error: { code: string }) => error.code),
          );
        return results;
      },
    });
    const { run, environment } = await started(workflow);
    expect((await run.waits())[0]).toMatchObject({ address: "charge", kind: "incident" });
    bank.allow();
    for (const payload of [{ action: "retry" }, { action: "skip", output: "skipped" }, { action: "fail" }]) {
      await run.resume({ step: "charge", payload });
      await quiet(environment, run);
    }
    expect(await run.result()).toEqual(["done", "skipped", "NO"]);
  });
});

describe("a step that somebody has skipped", () => {
  it("is undone like one that has completed, with the output that was given", async () => {
    const undone: unknown[] = [];
    const workflow = defineDurable({
      id: "skipped",
      nodes: { refund: defineNode({ executor: (_data, { compensating }) => ({ data: undone.push(compensating) }) }) },
      async run({ step }) {
        await step.run("pay", { incident: true, undo: { type: "refund" } }, () => Promise.reject(new Error("no")));
        throw new Error("over");
      },
    });
    const { run, environment } = await started(workflow);
    await run.resume({ step: "pay", payload: { action: "skip", output: "by hand" } });
    await quiet(environment, run);
    expect((await run.snapshot()).status).toBe("failed");
    expect(undone).toEqual([{ completed: true, output: "by hand", idempotencyKey: "one/0.1#1" }]);
  });
});

describe("a fork of durable code", () => {
  const workflow = defineDurable({
    id: "forked",
    waits: { go: true },
    async run({ step }) {
      const keys: string[] = [];
      for (const name of ["first", "second", "third"]) keys.push(await step.run(name, ({ idempotencyKey }) => idempotencyKey));
      await step.sleep("pause", "1h");
      return keys;
    },
  });

  it("goes on in the middle, by version and by the name of a step", async () => {
    const { run, environment } = await started(workflow);
    const byVersion = await run.fork({ version: 1, workflowId: "version" });
    const byName = await run.fork({ node: "third", workflowId: "name" });
    await quiet(environment, byName);
    await pass(environment, run, 2 * hour);
    expect(await byVersion.result()).toEqual(["one/0.1#1", "version/0.2#1", "version/0.3#1"]);
    expect(await byName.result()).toEqual(["one/0.1#1", "one/0.2#1", "name/0.3#1"]);
    await expect(run.fork({ node: "fourth" })).rejects.toMatchObject({ code: "FORK_REFUSED" });
    await expect(run.fork({ node: "third", output: 1 })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("runs of durable code", () => {
  it("begin the next one with the code that is current, and numbers of steps never repeat in a life", async () => {
    const keys: string[] = [];
    const workflow = defineDurable({
      id: "loop",
      input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      async run({ input, step }) {
        const { n } = input as { n: number };
        await step.run("tick", ({ idempotencyKey }) => void keys.push(idempotencyKey));
        return n < 3 ? step.continueAs({ n: n + 1 }) : n;
      },
    });
    const { run } = await started(workflow, { input: { n: 1 } });
    expect([await run.result(), keys]).toEqual([3, ["one/0.1#1", "one/1.1#1", "one/2.1#1"]]);
  });
});

describe("code in graphs", () => {
  const each = defineDurable({
    id: "each",
    waits: { ok: true },
    async run({ input, step }) {
      const doubled = await step.run("double", () => (input as number) * 2);
      if (doubled === 4) await step.waitFor("ok");
      return doubled;
    },
  });

  it("runs as a node and as the items of a map, and its waits have addresses", async () => {
    const graph = {
      id: "graph",
      workflows: { each: each.definition },
      nodes: [
        { id: "one", type: "workflow", data: { workflow: "each", input: 7 } },
        { id: "all", type: "map", data: { workflow: "each", items: [1, 2, 3] } },
      ],
      edges: [{ source: "one", target: "all" }],
      output: { one: "{{ nodes.one.last.data }}", all: "{{ nodes.all.last.data }}" },
    };
    const { runtime, environment } = setUp({ workflows: [graph], nodeDefinitions: { ...builtinNodes, ...each.nodes } as never });
    const run = await runtime.start("graph");
    await quiet(environment, run);
    expect((await run.waits()).map(({ address }) => address)).toEqual(["all[1]/ok"]);
    await run.resume({ step: "all[1]/ok", payload: null });
    expect(await run.result()).toEqual({ one: 14, all: [2, 4, 6] });
  });

  it("leaves the slots to the steps: a map of more items than slots goes on", async () => {
    const outer = defineDurable({
      id: "outer",
      workflows: [each],
      run: ({ step }) =>
        step.map(
          "items",
          Array.from({ length: 100 }, (_, i) => (i + 10) as never),
          each,
          { concurrency: 100 },
        ),
    });
    const { run } = await started(outer);
    expect(await run.result()).toHaveLength(100);
  });

  it("is refused where it cannot be: as a node type of a graph, with settings of graphs, with a type that is no code", async () => {
    const { runtime } = setUp({ workflows: [], nodeDefinitions: { ...builtinNodes, ...each.nodes } as never });
    const issuesOf = (definition: unknown): Promise<unknown> =>
      runtime.start(definition as never).then(
        () => "started",
        (error: { details: { issues: { code: string; pointer: string }[] } }) =>
          error.details.issues.map(({ code, pointer }) => `${code} ${pointer}`),
      );
    expect(await issuesOf({ id: "a", nodes: [{ id: "n", type: "each" }], edges: [] })).toEqual(["NODE_TYPE_MISPLACED /nodes/0/type"]);
    expect(await issuesOf({ id: "b", code: true, nodes: [{ id: "n", type: "noop" }], edges: [] })).toEqual([
      "NODE_TYPE_MISPLACED /nodes/0/type",
    ]);
    const nodes = [
      { id: "n", type: "each", retryPolicy: { maxAttempts: 2, interval: 1, backoff: "fixed" }, keep: 1 },
      { id: "m", type: "noop" },
    ];
    expect(await issuesOf({ id: "c", code: "yes", nodes, edges: [{ source: "n", target: "m" }], start: "n", output: 1 })).toEqual([
      ...["TYPE /code", "TOO_MANY /nodes", "TOO_MANY /edges", "KEY_POINTLESS /start", "KEY_POINTLESS /output"],
      ...["KEY_POINTLESS /nodes/0/keep", "KEY_POINTLESS /nodes/0/retryPolicy"],
    ]);
  });
});
