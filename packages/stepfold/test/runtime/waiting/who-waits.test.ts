import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { listedWaitsOf } from "../../../src/core/transition/draft/listed-waits.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import type { WaitFilter } from "../../../src/ports/list-filters.ts";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/memory-store.ts";
import { encryptedStore } from "../../../src/stores/wrappers/encrypted/encrypted-store.ts";
import { tieredStore } from "../../../src/stores/wrappers/tiered/tiered-store.ts";
import { type VirtualEnvironment, virtualEnvironment } from "../../../src/testing/virtual-environment.ts";
import { closeAll, hour, nodeDefinitions, second, setUp } from "../runtime.fixture.ts";

afterEach(closeAll);

const approval = (id: string, data: object = {}) => ({ id, type: "approval", data });
const review = { id: "review", nodes: [approval("ask", { responders: ["{{ input }}"] })], edges: [] };
const workflows = [
  {
    id: "one",
    nodes: [approval("approve", { responders: ["ada", "bob"], quorum: 2 }), { id: "after", type: "noop" }],
    edges: [{ source: "approve", target: "after", sourceHandle: "approved" }],
  },
  {
    id: "many",
    nodes: [{ id: "each", type: "map", data: { workflow: "review", items: "{{ input }}" } }],
    edges: [],
    workflows: { review },
  },
  {
    id: "beside",
    nodes: [
      { id: "fork", type: "noop" },
      approval("approve", { responders: ["ada"] }),
      ...[1, 2, 3].map((n) => ({ id: `s${n}`, type: "say" })),
    ],
    edges: [
      { source: "fork", target: "approve" },
      { source: "fork", target: "s1" },
      { source: "s1", target: "s2" },
      { source: "s2", target: "s3" },
    ],
  },
  { id: "pay", nodes: [{ id: "payment", type: "signal", data: { name: "paid", key: "{{ input }}" } }], edges: [] },
];

function setUpWaits(wrap: (store: SnapshotStore) => SnapshotStore = (store) => store) {
  const environment = virtualEnvironment();
  const written: Commit[] = [];
  const memory = memoryStore({ now: () => environment.now() });
  const noting = new Proxy(memory, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (key !== "commit" && key !== "create") return typeof value === "function" ? value.bind(target) : value;
      return (commit: Commit, ...rest: unknown[]) => {
        written.push(commit);
        return (value as (...args: unknown[]) => unknown).call(target, commit, ...rest);
      };
    },
  });
  const store = wrap(noting);
  const { runtime } = setUp({ store, workflows, nodeDefinitions: { ...builtinNodes, ...nodeDefinitions } }, environment);
  const waiting = async (query: WaitFilter): Promise<string[]> =>
    (await store.list({ waiting: query })).items.map(({ workflowId }) => workflowId).sort();
  return { environment, runtime, store, written, waiting, memory };
}

/** Lets virtual time pass until `isSo` holds. Encryption takes real time, in which the virtual time stands still. */
async function until(environment: VirtualEnvironment, isSo: () => Promise<boolean>): Promise<void> {
  for (const beginMs = performance.now(); !(await isSo()); ) {
    // a busy machine encrypts slowly, so the bound is one of time and not of looks
    expect(performance.now() - beginMs).toBeLessThan(25_000);
    await environment.advance(200);
    await setImmediate();
  }
}

describe("lists by what is waited for", () => {
  it("find the approvals of a person, until they are answered", async () => {
    const { environment, runtime, waiting } = setUpWaits();
    const run = await runtime.start("one", { workflowId: "a" });
    await environment.advance(second);
    const asked = { kind: "external", nodeId: "approve" } as const;
    expect(await waiting({ ...asked, responder: "ada" })).toEqual(["a"]);
    await run.resume({ payload: { approved: true }, by: "ada" });
    expect(await waiting({ ...asked, responder: "ada" })).toEqual([]);
    expect(await waiting({ ...asked, responder: "bob" })).toEqual(["a"]);
    await run.setMetadata({ stage: "late" });
    expect(await waiting({ responder: "bob" })).toEqual(["a"]);
    await run.resume({ payload: { approved: true }, by: "bob" });
    await environment.advance(second);
    expect(await waiting({})).toEqual([]);
    expect(await run.snapshot()).toMatchObject({ status: "completed", metadata: { stage: "late" } });
  });

  it("find approvals that wait for long, since the first of several answers was asked for", async () => {
    const { environment, runtime, store, waiting } = setUpWaits();
    const run = await runtime.start("one", { workflowId: "a" });
    await environment.advance(second);
    const openedAt = (await run.waits())[0]!.openedAt!;
    await environment.advance(2 * hour);
    await runtime.start("one", { workflowId: "b" });
    await environment.advance(second);
    const before = environment.now() - hour;
    expect([await waiting({ openedBefore: before }), await waiting({ openedAfter: before })]).toEqual([["a"], ["b"]]);
    await run.resume({ payload: { approved: true }, by: "ada" });
    expect(await waiting({ openedBefore: before, responder: "bob" })).toEqual(["a"]);
    expect((await store.list({ idPrefix: "a" })).items[0]!.waits).toMatchObject([{ responders: ["bob"], openedAt }]);
  });

  it("find what an execution waits for that was restarted, by the time that it has waited, without the time in between", async () => {
    const { environment, runtime, waiting } = setUpWaits();
    const run = await runtime.start("one", { workflowId: "a" });
    await environment.advance(hour);
    await run.cancel();
    await environment.advance(10 * hour);
    await run.restart();
    await environment.advance(second);
    const ago = (ms: number): number => environment.now() - ms;
    expect([await waiting({ openedBefore: ago(hour / 2) }), await waiting({ openedBefore: ago(2 * hour) })]).toEqual([["a"], []]);
  });

  it("find what items of a map and sub-workflows wait for, each while it waits", async () => {
    const { environment, runtime, store, waiting } = setUpWaits();
    const run = await runtime.start("many", { workflowId: "a", input: ["ada", "bob", "ada"] });
    await environment.advance(second);
    for (const responder of ["ada", "bob"]) expect(await waiting({ nodeId: "ask", responder }), responder).toEqual(["a"]);
    await run.resume({ step: "each[1]/ask", payload: { approved: true }, by: "bob" });
    await environment.advance(second);
    expect(await waiting({ responder: "bob" })).toEqual([]);
    const { waits = [] } = (await store.list()).items[0]!;
    expect(waits).toMatchObject([{ kind: "external", nodeId: "ask", responders: ["ada"] }]);
    await run.cancel();
    expect(await waiting({})).toEqual([]);
  });

  it("find forks, and what a step of another path does meanwhile writes nothing of waits", async () => {
    const { environment, runtime, written, waiting } = setUpWaits();
    const run = await runtime.start("beside", { workflowId: "a" });
    await environment.advance(second);
    const telling = written.filter(({ waits }) => waits);
    expect([written.length > 4, telling.length]).toEqual([true, 1]);
    const fork = await run.fork({ workflowId: "b" });
    await environment.advance(second);
    expect(await waiting({ responder: "ada" })).toEqual(["a", "b"]);
    await fork.cancel();
    expect(await waiting({ responder: "ada" })).toEqual(["a"]);
  });

  it("say what the snapshot says after every commit, also where an item fails or time is up", async () => {
    const { environment, runtime, store } = setUpWaits();
    const runs = [
      await runtime.start("many", { input: ["ada", "bob"] }),
      await runtime.start("one"),
      await runtime.start("beside"),
      await runtime.start("pay", { input: "k" }),
    ];
    const agree = async (): Promise<void> => {
      for (const { workflowId, waits = [] } of (await store.list()).items)
        expect(waits).toEqual(listedWaitsOf((await store.load(workflowId))!));
    };
    await environment.advance(second);
    await agree();
    await runs[0]!.resume({ step: "each[0]/ask", payload: { approved: false }, by: "ada" });
    await environment.advance(second);
    await agree();
    await runs[3]!.signal("paid", { key: "k" });
    await environment.advance(hour);
    await agree();
    for (const run of runs) await run.cancel().catch(() => undefined);
    await agree();
  });

  it("know the first hundred waits of an execution, and the next ones as these are answered", async () => {
    const { environment, runtime, waiting } = setUpWaits();
    const people = Array.from({ length: 150 }, (_, index) => `p${index}`);
    const run = await runtime.start("many", { workflowId: "a", input: people });
    await environment.advance(second);
    expect([await waiting({ responder: "p0" }), await waiting({ responder: "p99" }), await waiting({ responder: "p149" })]).toEqual([
      ["a"],
      ["a"],
      [],
    ]);
    for (let index = 0; index < 60; index++) await run.resume({ step: `each[${index}]/ask`, payload: { approved: true }, by: `p${index}` });
    await environment.advance(second);
    expect([await waiting({ responder: "p0" }), await waiting({ responder: "p149" })]).toEqual([[], ["a"]]);
  });

  it("find people in an encrypted store with a search key, and tell nobody their names", async () => {
    const key = { id: "k", key: new Uint8Array(32) };
    const { environment, runtime, waiting, store, memory } = setUpWaits((inner) =>
      encryptedStore(inner, { keys: [key], searchKey: new Uint8Array(32).fill(1) }),
    );
    await runtime.start("one", { workflowId: "a" });
    await until(environment, async () => (await store.list({ status: ["paused"] })).items.length === 1);
    expect([await waiting({ responder: "ada" }), await waiting({ responder: "eve" })]).toEqual([["a"], []]);
    expect((await store.list()).items[0]!.waits).toEqual([{ kind: "external", nodeId: "approve", openedAt: expect.any(Number) }]);
    expect(JSON.stringify(await memory.list())).not.toContain('"ada"');
  });

  it("find nodes in an encrypted store without a search key, and refuse names", async () => {
    const { environment, runtime, waiting, store, memory } = setUpWaits((inner) =>
      encryptedStore(inner, { keys: [{ id: "k", key: new Uint8Array(32) }] }),
    );
    await runtime.start("one", { workflowId: "a" });
    await until(environment, async () => (await store.list({ status: ["paused"] })).items.length === 1);
    expect(await waiting({ nodeId: "approve" })).toEqual(["a"]);
    await expect(waiting({ responder: "ada" })).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "waiting" } });
    expect(JSON.stringify(await memory.list())).not.toContain('"ada"');
  });

  it("find what has moved to the cold store, until it is answered there", async () => {
    const now = { at: 0 };
    let tiers: ReturnType<typeof tieredStore> | undefined;
    const { environment, runtime, waiting } = setUpWaits((hot) => {
      const cold = memoryStore({ now: () => environment.now() });
      tiers = tieredStore({ hot, cold, coldAfterMs: 1_000, now: () => now.at });
      return tiers;
    });
    const run = await runtime.start("one", { workflowId: "a", metadata: { team: "red" } });
    await environment.advance(second);
    now.at = environment.now() + hour;
    expect(await tiers!.move()).toMatchObject({ moved: 1 });
    expect(await waiting({ responder: "ada" })).toEqual(["a"]);
    await run.resume({ payload: { approved: true }, by: "ada" });
    expect([await waiting({ responder: "ada" }), await waiting({ responder: "bob" })]).toEqual([[], ["a"]]);
    const [item] = (await tiers!.list()).items;
    expect(item!.metadata).toEqual({ team: "red" });
    await run.resume({ payload: { approved: true }, by: "bob" });
    await environment.advance(second);
    expect(await waiting({})).toEqual([]);
  });
});
