import { afterEach, describe, expect, it } from "vitest";
import { explain } from "../../../src/core/explain/explain.ts";
import { readSnapshot } from "../../../src/core/reading/read-snapshot.ts";
import { scheduleIdOf } from "../../../src/core/values/ids/reserved-ids.ts";
import type { ActionRequest } from "../../../src/engine/attempt/may.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { schedules } from "../../../src/schedules/schedules.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, dyingInCommit, hour, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const order = flow("order", { paid: ["signal", "{{ { ...input, name: 'paid' } }}"] });
const strict = flow("strict", { paid: ["signal", { name: "paid", schema: { type: "number" } }] });
const cycle = flow(
  "cycle",
  {
    tick: ["signal", { name: "paid" }],
    more: ["if", { condition: "{{ input.round < 3 }}" }],
    again: ["end", { continueAs: { input: { round: "{{ input.round + 1 }}" } } }],
  },
  ["tick>more", "more>again@true"],
);
const teller = flow(
  "teller",
  {
    tell: ["sendSignal", "{{ { ...input, name: 'paid' } }}"],
    done: ["set", { told: "{{ $json }}" }],
    failed: ["set", { code: "{{ $json.code }}" }],
  },
  ["tell>done", "tell>failed@error"],
);
const workflows = [order, strict, cycle, teller] as never;
const living = (more: object = {}, environment?: Parameters<typeof setUp>[1]): ReturnType<typeof setUp> =>
  setUp({ nodeDefinitions: builtinNodes, workflows, may: () => true, ...more }, environment);

describe("a node that sends a signal", () => {
  it("wakes the step of another execution that waits for it, and goes on with what came", async () => {
    const { runtime, environment } = living();
    const waiting = await runtime.start("order", { workflowId: "o", input: { key: "k" } });
    await environment.settle();
    const input = { to: "o", key: "k", payload: { amount: 40 } };
    expect(await (await runtime.start("teller", { input })).result()).toEqual({ told: input });
    expect(await waiting.result()).toEqual({ amount: 40 });
  });

  it("is kept by an execution that does not wait yet, for as long as it says", async () => {
    const { runtime, environment } = living();
    const later = { startAt: environment.now() + 2 * hour };
    const [one, other] = [
      await runtime.start("order", { workflowId: "one", input: { key: "k" }, ...later }),
      await runtime.start("order", { workflowId: "other", input: { key: "k" }, ...later }),
    ];
    await (await runtime.start("teller", { input: { to: "one", key: "k", payload: 1 } })).result();
    await (await runtime.start("teller", { input: { to: "other", key: "k", payload: 1, ttl: "1h" } })).result();
    await environment.advance(2 * hour + second);
    expect(await one.result()).toBe(1);
    expect(await other.snapshot()).toMatchObject({ status: "paused" });
  });

  it("follows an execution that has gone on as a new one", async () => {
    const { runtime, environment } = living();
    await runtime.start("cycle", { workflowId: "c", input: { round: 1 } });
    await environment.settle();
    for (let round = 1; round <= 3; round++) {
      await (await runtime.start("teller", { input: { to: "c" } })).result();
      await environment.settle();
    }
    expect(await (await runtime.get("c")).snapshot()).toMatchObject({ status: "completed" });
  });

  it.each([
    ["there is none", { to: "nobody" }, "WORKFLOW_NOT_FOUND"],
    ["it has ended", { to: "ended" }, "EXECUTION_ENDED"],
    ["it does not take the payload", { to: "s", payload: "text" }, "RESUME_INVALID"],
    ["it is one of another tenant", { to: "acme" }, "WORKFLOW_NOT_FOUND"],
    ["its id is none", { to: " x" }, "OPTION_INVALID"],
    ["the time is none", { to: "s", ttl: "soon" }, "DURATION_INVALID"],
  ])("fails where %s, and the edge error takes it", async (_, input, code) => {
    const { runtime, environment } = living();
    await (await runtime.start("order", { workflowId: "ended", input: {} })).cancel();
    await runtime.start("strict", { workflowId: "s" });
    await runtime.start("order", { workflowId: "acme", input: {}, tenant: "acme" });
    await environment.settle();
    expect(await (await runtime.start("teller", { input })).result()).toEqual({ code });
    expect(await (await runtime.get("s")).snapshot()).toMatchObject({ status: "paused" });
    expect((await (await runtime.get("acme")).snapshot()).inbox).toBeUndefined();
  });

  it("reaches executions of its own tenant", async () => {
    const { runtime, environment } = living();
    const waiting = await runtime.start("order", { workflowId: "o", input: { key: "k" }, tenant: "acme" });
    await environment.settle();
    await (await runtime.start("teller", { input: { to: "o", key: "k" }, tenant: "acme" })).result();
    expect(await waiting.result()).toBeNull();
  });

  it("is sent again by the retry policy of its node, until somebody is there", async () => {
    const [tell] = (teller as { nodes: object[] }).nodes;
    const patient = {
      ...flow("patient", { tell: "noop" }),
      nodes: [{ ...tell, retryPolicy: { maxAttempts: 5, interval: "1h", backoff: "fixed" } }],
    };
    const { runtime, environment } = living({ workflows: [order, patient] });
    const run = await runtime.start("patient", { input: { to: "o", key: "k" } });
    await environment.advance(1.5 * hour);
    expect(await run.snapshot()).toMatchObject({ status: "error", retryState: { attempts: 2 } });
    const waiting = await runtime.start("order", { workflowId: "o", input: { key: "k" } });
    await environment.advance(hour);
    expect(await waiting.result()).toBeNull();
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
  });

  it("may be in a sub-workflow, an item of a map, and undo a step", async () => {
    const send = (to: string): object => ({ type: "sendSignal", data: { to, name: "paid", key: "k" } });
    const inner = { id: "inner", nodes: [{ id: "tell", ...send("{{ input }}") }], edges: [] };
    const whole = {
      id: "whole",
      nodes: [
        { id: "each", type: "map", data: { workflow: "inner", items: ["a", "b"] } },
        { id: "book", type: "noop", compensate: send("c") },
        { id: "stop", type: "fail", data: { message: "no" } },
      ],
      edges: [
        { source: "each", target: "book" },
        { source: "book", target: "stop" },
      ],
      workflows: { inner },
    };
    const { runtime, environment } = living({ workflows: [order, whole] });
    const waiting = await Promise.all(["a", "b", "c"].map((id) => runtime.start("order", { workflowId: id, input: { key: "k" } })));
    await environment.settle();
    const run = await runtime.start("whole");
    await environment.advance(second);
    expect(await Promise.all(waiting.map((one) => one.result()))).toEqual([null, null, null]);
    expect(await run.snapshot()).toMatchObject({ status: "failed", compensations: [{ nodeId: "book" }] });
  });

  it("may be for the execution itself", async () => {
    const own = flow(
      "own",
      { f: "noop", tell: ["sendSignal", { to: "{{ execution.id }}", name: "go" }], hear: ["signal", { name: "go" }] },
      ["f>tell", "f>hear"],
    );
    const { runtime } = living({ workflows: [own] });
    expect(await (await runtime.start("own")).result()).toBeNull();
  });

  it("says where it stands while the signal is under way, and leaves in time", async () => {
    const slow = { ...flow("slow", { tell: ["sendSignal", { to: "o", name: "paid" }], late: "noop" }, ["tell>late@timeout"]) } as {
      nodes: object[];
    };
    const workflow = { ...slow, nodes: [{ ...slow.nodes[0], timeout: "5s" }, slow.nodes[1]] };
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const slowly = async (id: string): ReturnType<typeof store.loadHead> => {
      if (id === "o") await new Promise<void>((resolve) => environment.after(8 * second, resolve));
      return store.loadHead(id);
    };
    const { runtime } = living({ store: { ...store, loadHead: slowly }, workflows: [workflow, order] }, environment);
    const run = await runtime.start("slow");
    await environment.advance(second);
    const snapshot = await run.snapshot();
    expect(snapshot.activePaths[0]?.waits).toMatchObject([{ kind: "delivery", payload: { workflowId: "o", signal: "paid" } }]);
    expect(explain(snapshot).sentence).toContain('tell waits for its signal "paid" to reach the execution "o", until 2026-01-01T00:00:05');
    expect(
      readSnapshot(JSON.parse(JSON.stringify(snapshot)), new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes }).workflow),
    ).toEqual(snapshot);
    await expect(run.resume({ step: "tell" })).rejects.toMatchObject({ code: "WAIT_GONE" });
    await environment.advance(5 * second);
    expect((await run.snapshot()).context.tell?.at(-1)?.error).toContain("The delivery of its signal had to end by");
    await environment.advance(10 * second);
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
  });

  it("arrives once, whenever the process that sends it dies", async () => {
    for (let commits = 1; commits <= 6; commits++) {
      const environment = virtualEnvironment();
      const store = memoryStore({ now: () => environment.now() });
      await living({ store, drive: false }, environment).runtime.start("order", {
        workflowId: "o",
        input: { key: "k" },
        startAt: environment.now() + hour,
      });
      const mortal = dyingInCommit(commits, store, environment);
      const first = setUp({ ...mortal, nodeDefinitions: builtinNodes, workflows, may: () => true }, mortal.environment as never);
      await first.runtime.start("teller", { workflowId: "t", input: { to: "o", key: "k" } });
      await environment.advance(second);
      living({ store }, environment);
      await environment.advance(10 * 60 * second);
      expect(await store.load("t")).toMatchObject({ status: "completed" });
      expect((await store.events("o", -1, 10)).filter(({ event }) => event.type === "signalled")).toHaveLength(1);
    }
  });

  it("is not handed on to a fork: that sends one of its own", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const { runtime } = living({ store }, environment);
    await runtime.start("order", { workflowId: "o", input: { key: "k" }, startAt: environment.now() + hour });
    const run = await runtime.start("teller", { workflowId: "t", input: { to: "o", key: "k" } });
    await run.result();
    // at version 1 the execution waits until its signal has arrived
    const fork = await run.fork({ version: 1, workflowId: "f" });
    await fork.result();
    expect((await (await runtime.get("o")).snapshot()).inbox).toHaveLength(2);
  });

  it("needs a runtime", async () => {
    const engine = new WorkflowEngine({ workflow: teller, nodeDefinitions: builtinNodes });
    expect(await engine.execute({ input: { to: "o" } })).toMatchObject({ output: { code: "OPTION_INVALID" } });
  });

  it("asks the host, who may refuse, and the verdict is recorded", async () => {
    const asked: ActionRequest[] = [];
    const may = (request: ActionRequest): boolean => asked.push(request) > 0 && request.id !== "closed";
    const { runtime, environment, store } = living({ may });
    await runtime.start("order", { workflowId: "o", input: { key: "k" } });
    await runtime.start("order", { workflowId: "closed", input: { key: "k" } });
    await environment.settle();
    const run = await runtime.start("teller", { workflowId: "t", input: { to: "o", key: "k" } });
    await run.result();
    const { definition } = await run.snapshot();
    expect(asked).toEqual([
      {
        action: "signal",
        from: { workflowId: "t", definition, nodeId: "tell", unnamed: false },
        signal: "paid",
        id: "o",
        tenant: undefined,
      },
    ]);
    expect((await store.events("t", 0, 1))[0]?.event).toMatchObject({ type: "suspended", signal: { to: "o", allowed: true } });
    const denied = await runtime.start("teller", { input: { to: "closed", key: "k" } });
    expect(await denied.result()).toEqual({ code: "ACTION_DENIED" });
    expect((await denied.snapshot()).context.tell?.[0]?.error).toBe(
      'Node "tell" may not signal execution "closed": the function `may` of the host does not allow it',
    );
  });

  it("tells no stranger anything where the host has no `may`: only itself, its parent, and what it has begun", async () => {
    const child = flow("child", { ask: ["signal", { name: "go" }], tell: ["sendSignal", { to: "{{ input.parent }}", name: "done" }] }, [
      "ask>tell",
    ]);
    const parent = flow(
      "parent",
      {
        f: "noop",
        begin: ["workflow", { workflow: "child", detached: true, workflowId: "given", input: { parent: "{{ execution.id }}" } }],
        leave: ["workflow", { workflow: "child", detached: true, wait: false, input: { parent: "{{ execution.id }}" } }],
        first: ["sendSignal", { to: "given", name: "go" }],
        second: ["sendSignal", { to: "{{ nodes.leave.last.data.workflowId }}", name: "go" }],
        nap: ["wait", { for: "1s" }],
        hear: ["signal", { name: "done" }],
      },
      ["f>begin", "f>leave", "leave>second", "f>nap", "nap>first", "f>hear"],
    );
    const { runtime, environment } = living({ may: undefined, workflows: [...(workflows as object[]), child, parent] });
    const run = await runtime.start("parent", { workflowId: "p" });
    await environment.advance(5 * second);
    expect(await run.snapshot()).toMatchObject({ status: "completed" });
    await runtime.start("order", { workflowId: "o", input: { key: "k" } });
    const denied = await runtime.start("teller", { input: { to: "o", key: "k" } });
    expect(await denied.result()).toEqual({ code: "ACTION_DENIED" });
    expect((await denied.snapshot()).context.tell?.[0]?.error).toContain("without the option `may`");
  });

  it("cannot tell a schedule anything", async () => {
    const { runtime, environment } = living({ schedules: schedules() });
    await runtime.schedules.create("daily", { workflow: "order", cron: "0 9 * * *" } as never);
    const run = await runtime.start("teller", { input: { to: scheduleIdOf("daily") } });
    await environment.settle();
    expect(await run.result()).toEqual({ code: "SCHEDULE_DENIED" });
  });

  it("leaves nothing readable in an encrypted store", async () => {
    const environment = virtualEnvironment();
    const plain = memoryStore({ now: () => environment.now() });
    const keys = [{ id: "k1", key: new Uint8Array(32).fill(7) }];
    const { runtime } = living({ store: encryptedStore(plain, { keys }) }, environment);
    await runtime.start("order", { workflowId: "o", input: { key: "canary" }, startAt: environment.now() + hour });
    await (await runtime.start("teller", { workflowId: "t", input: { to: "o", key: "canary", payload: "canary" } })).result();
    expect(JSON.stringify(await plain.events("t", -1, 20))).not.toContain("canary");
  });
});
