import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { explain } from "../../../src/core/explain/explain.ts";
import { readSnapshot } from "../../../src/core/reading/read-snapshot.ts";
import { defaultLimits } from "../../../src/core/values/limits.ts";
import type { ActionRequest } from "../../../src/engine/attempt/may.ts";
import { WorkflowEngine } from "../../../src/engine/workflow-engine.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { Runtime } from "../../../src/runtime/runtime.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { flow } from "../../nodes/workflow.fixture.ts";
import { closeAll, dyingInCommit, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const signal = { name: "paid", key: "{{ input.key }}" };
const order = flow("order", { paid: ["signal", signal] });
const twice = flow("twice", { paid: ["signal", signal], more: ["signal", signal] }, ["paid>more"]);
const strict = flow("strict", { paid: ["signal", { ...signal, schema: { type: "number" } }] });
const teller = flow(
  "teller",
  {
    tell: ["sendSignal", "{{ { ...input, all: true, name: 'paid' } }}"],
    failed: ["set", { code: "{{ $json.code }}" }],
  },
  ["tell>failed@error"],
);
const workflows = [order, twice, strict, teller] as never;
const living = (more: object = {}, environment?: Parameters<typeof setUp>[1]): ReturnType<typeof setUp> =>
  setUp({ nodeDefinitions: builtinNodes, workflows, may: () => true, ...more }, environment);

async function startWaiting(runtime: Runtime): Promise<void> {
  for (const id of ["a", "b"]) await runtime.start("order", { workflowId: id, input: { key: "k" } });
  await runtime.start("twice", { workflowId: "c", input: { key: "k" } });
  await runtime.start("strict", { workflowId: "s", input: { key: "k" } });
  await runtime.start("order", { workflowId: "other", input: { key: "other" } });
  await runtime.start("order", { workflowId: "acme", input: { key: "k" }, tenant: "acme" });
}

const received = async (store: ReturnType<typeof memoryStore>, id: string): Promise<number> =>
  (await store.events(id, -1, 100)).filter(({ event }) => event.type === "signalled").length;

describe("a signal to all that wait for it", () => {
  it("reaches each of them once, and says who did not take it; it is kept by nobody", async () => {
    const { runtime, environment, store } = living();
    await startWaiting(runtime);
    await environment.settle();
    const options = { key: "k", where: { status: ["paused"] }, idempotencyKey: "event-1" } as const;
    const first = await runtime.broadcast("paid", "a text", options);
    expect([...first.reached].sort()).toEqual(["a", "acme", "b", "c"]);
    expect(first.refused).toEqual([{ workflowId: "s", error: { code: "RESUME_INVALID", message: expect.any(String) } }]);
    await environment.advance(second);
    expect(await store.load("a")).toMatchObject({ status: "completed" });
    expect((await store.load("c"))!.activePaths).toMatchObject([{ nodeId: "more" }]);
    // the same event again does not reach "c", which waits for the same signal again but has had this event
    await runtime.broadcast("paid", "a text", options);
    expect([await received(store, "c"), await received(store, "other")]).toEqual([1, 0]);
    expect((await runtime.broadcast("paid", 7, { key: "k" })).reached).toEqual(["s", "c"]);
    await environment.advance(second);
    expect(await runtime.broadcast("paid", 7, { key: "k" })).toEqual({ reached: [], refused: [] });
    for (const id of ["a", "b", "c", "s"]) expect((await store.load(id))!.inbox, id).toBeUndefined();
  });

  it("reaches only those that `where` says", async () => {
    const { runtime, environment } = living();
    await startWaiting(runtime);
    await environment.settle();
    expect((await runtime.broadcast("paid", 1, { key: "k", where: { tenant: "acme" } })).reached).toEqual(["acme"]);
    expect((await runtime.broadcast("paid", 1, { key: "k", where: { definitionId: "twice" } })).reached).toEqual(["c"]);
  });

  it("reaches the others where one cannot be loaded, because somebody has damaged it", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const load: typeof store.load = async (id) => {
      if (id === "b") throw new StepfoldError("STORE_REJECTED", { store: "memory", reason: "what is stored of it is damaged" });
      return store.load(id);
    };
    const { runtime } = living({ store }, environment);
    await startWaiting(runtime);
    await environment.settle();
    await runtime.close();
    const later = living({ store: { ...store, load } }, environment).runtime;
    const { reached, refused } = await later.broadcast("paid", 1, { key: "k" });
    expect([[...reached].sort(), refused.map(({ workflowId, error }) => [workflowId, error.code])]).toEqual([
      ["a", "acme", "c", "s"],
      [["b", "STORE_REJECTED"]],
    ]);
    const more = await later.start("order", { workflowId: "d", input: { key: "k" } });
    await environment.settle();
    expect(await (await later.start("teller", { input: { key: "k", workflow: "order" } })).result()).toEqual({ reached: 1, refused: 1 });
    expect(await more.result()).toBe(null);
  });

  it("is refused where `where` is no filter, or says another signal", async () => {
    const { runtime } = living();
    for (const where of [
      { cursor: "1.1" },
      { limit: 1 },
      { order: "oldest" },
      { statuz: [] },
      { waiting: { signal: "shipped" } },
      { waiting: { key: "j" } },
    ])
      await expect(runtime.broadcast("paid", 1, { key: "k", where: where as never }), JSON.stringify(where)).rejects.toMatchObject({
        code: expect.stringMatching(/^OPTION_(UNKNOWN|INVALID)$/),
      });
  });

  it("is refused as a whole if too many wait for it, without a key, and with what is no option", async () => {
    const { runtime, environment, store } = living({ limits: { ...defaultLimits, receivers: 2 } });
    await startWaiting(runtime);
    await environment.settle();
    await expect(runtime.broadcast("paid", 1, { key: "k" })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      details: { limit: "receivers", max: 2 },
    });
    expect(await received(store, "a")).toBe(0);
    await expect(runtime.broadcast("paid", 1, {} as never)).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "key" } });
    await expect(runtime.broadcast("paid", 1, { key: "k", to: "a" } as never)).rejects.toMatchObject({ code: "OPTION_UNKNOWN" });
    const told = await (await runtime.start("teller", { input: { key: "k" } })).result();
    expect(told).toEqual({ code: "LIMIT_EXCEEDED" });
    expect(await received(store, "a")).toBe(0);
  });
});

describe("a node that sends a signal to all that wait for it", () => {
  it("reaches those of its tenant, and goes on with how many have it", async () => {
    const { runtime, environment, store } = living();
    await startWaiting(runtime);
    await environment.settle();
    expect(await (await runtime.start("teller", { input: { key: "k", payload: "text" } })).result()).toEqual({ reached: 3, refused: 1 });
    expect(await received(store, "acme")).toBe(0);
    const narrow = { key: "k", payload: 1, workflow: "strict" };
    expect(await (await runtime.start("teller", { input: narrow })).result()).toEqual({ reached: 1, refused: 0 });
    const own = await runtime.start("teller", { input: { key: "k" }, tenant: "acme" });
    expect(await own.result()).toEqual({ reached: 1, refused: 0 });
    expect(await (await runtime.start("teller", { input: { key: "nobody" } })).result()).toEqual({ reached: 0, refused: 0 });
  });

  it("asks the host once, for all of them; without `may` it is denied", async () => {
    const asked: ActionRequest[] = [];
    const { runtime, environment } = living({ may: (request: ActionRequest) => asked.push(request) > 0 && request.key !== "closed" });
    await startWaiting(runtime);
    await environment.settle();
    const run = await runtime.start("teller", { workflowId: "t", input: { key: "k", workflow: "order" } });
    await run.result();
    const { definition } = await run.snapshot();
    const from = { workflowId: "t", definition, nodeId: "tell", unnamed: false };
    expect(asked).toEqual([{ action: "broadcast", from, signal: "paid", key: "k", workflow: "order", id: "*", tenant: undefined }]);
    expect(await (await runtime.start("teller", { input: { key: "closed" } })).result()).toEqual({ code: "ACTION_DENIED" });
    const without = living({ may: undefined });
    const denied = await without.runtime.start("teller", { input: { key: "k" } });
    expect(await denied.result()).toEqual({ code: "ACTION_DENIED" });
    expect((await denied.snapshot()).context.tell?.[0]?.error).toContain("may not send its signal to all executions that wait for it");
  });

  it.each([
    ["names one besides", { all: true, to: "a", name: "paid", key: "k" }],
    ["has no key", { all: true, name: "paid" }],
    ["is to be kept", { all: true, name: "paid", key: "k", ttl: "1h" }],
    ["says for whom it is in no way", { name: "paid", key: "k" }],
    ["names a workflow with one execution", { to: "a", workflow: "order", name: "paid" }],
  ])("fails where it %s", async (_, data) => {
    const { runtime } = living({ workflows: [flow("wrong", { tell: ["sendSignal", data] })] });
    await expect((await runtime.start("wrong")).result()).rejects.toMatchObject({ details: { code: "OPTION_INVALID" } });
  });

  it("says where it stands while the signal is under way", async () => {
    const environment = virtualEnvironment();
    const store = memoryStore({ now: () => environment.now() });
    const slowly = async (query: Parameters<typeof store.list>[0]): ReturnType<typeof store.list> => {
      if (query?.waiting) await new Promise<void>((resolve) => environment.after(8 * second, resolve));
      return store.list(query);
    };
    const { runtime } = living({ store: { ...store, list: slowly } }, environment);
    const run = await runtime.start("teller", { input: { key: "k" } });
    await environment.advance(second);
    const snapshot = await run.snapshot();
    expect(explain(snapshot).sentence).toContain(
      'tell waits for its signal "paid" to reach all executions that wait for it with the key "k"',
    );
    const { workflow } = new WorkflowEngine({ workflow: teller, nodeDefinitions: builtinNodes });
    expect(readSnapshot(JSON.parse(JSON.stringify(snapshot)), workflow)).toEqual(snapshot);
    await environment.advance(20 * second);
    expect(await run.result()).toEqual({ reached: 0, refused: 0 });
  });

  it("reaches each once, whenever the process that sends it dies", async () => {
    for (let commits = 1; commits <= 8; commits++) {
      const environment = virtualEnvironment();
      const store = memoryStore({ now: () => environment.now() });
      const others = living({ store }, environment).runtime;
      for (const id of ["a", "b", "c"]) await others.start("twice", { workflowId: id, input: { key: "k" } });
      await environment.advance(second);
      await others.close({ timeoutMs: 1 }).catch(() => undefined);
      const mortal = dyingInCommit(commits, store, environment);
      const first = setUp({ ...mortal, nodeDefinitions: builtinNodes, workflows, may: () => true }, mortal.environment as never);
      await first.runtime.start("teller", { workflowId: "t", input: { key: "k" } });
      await environment.advance(second);
      living({ store }, environment);
      await environment.advance(10 * 60 * second);
      expect(await store.load("t"), `${commits}`).toMatchObject({ status: "completed" });
      for (const id of ["a", "b", "c"]) expect(await received(store, id), `${id} after ${commits}`).toBe(1);
    }
  });
});
