import { describe, expect, it } from "vitest";
import type { SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import type { ScopedRuntime } from "../../../src/runtime/runtime.ts";
import { benches, codeOf, edges, eventually, type OpenStore } from "../identity/identity.fixture.ts";

const asking = { id: "asking", nodes: [{ id: "q", type: "approval" }], edges: [] };
const listening = { id: "listening", nodes: [{ id: "s", type: "signal", data: { name: "news", key: "k" } }], edges: [] };
/** Starts a detached execution whose id comes from the input, and signals another one. */
const calling = {
  id: "calling",
  nodes: [{ id: "c", type: "workflow", data: { workflow: "asking", detached: true, workflowId: "{{ input }}" } }],
  edges: edges(),
};
const workflows = [asking, listening, calling];

/** What a call does with an execution, by its id. */
const calls: Readonly<Record<string, (runtime: ScopedRuntime, id: string) => Promise<unknown>>> = {
  get: (runtime, id) => runtime.get(id),
  snapshot: async (runtime, id) => (await runtime.get(id)).snapshot(),
  events: async (runtime, id) => (await runtime.get(id)).events(),
  resume: async (runtime, id) => (await runtime.get(id)).resume({ payload: { approved: true } }),
  cancel: async (runtime, id) => (await runtime.get(id)).cancel(),
  fork: async (runtime, id) => (await runtime.get(id)).fork(),
};

/** Shows that a scoped runtime reaches only what belongs to its tenant. */
export function callers(name: string, openStore: OpenStore): void {
  describe(`${name}: a runtime for one tenant`, () => {
    const open = benches(openStore);
    const two = async () => {
      const bench = await open(workflows);
      const [acme, globex] = ["acme", "globex"].map((tenant) => bench.runtime.scoped({ tenant }));
      return { ...bench, acme: acme!, globex: globex! };
    };

    it("starts the same id as another one, and each reaches its own", async () => {
      const { acme, globex, store } = await two();
      const [a, b] = [await acme.start("asking", { workflowId: "order-7" }), await globex.start("asking", { workflowId: "order-7" })];
      expect([a.workflowId, b.workflowId, a.isNew, b.isNew]).toEqual(['"acme"/order-7', '"globex"/order-7', true, true]);
      expect((await acme.start("asking", { workflowId: "order-7" })).isNew).toBe(false);
      for (const id of ["order-7", '"acme"/order-7']) expect((await acme.get(id)).workflowId).toBe(a.workflowId);
      await a.waitFor({ step: "q" });
      await (await acme.get("order-7")).cancel();
      await eventually(async () => (await store.load(a.workflowId))?.status === "cancelled");
      expect((await store.load(b.workflowId))?.status).not.toBe("cancelled");
    });

    it.each(Object.keys(calls))("gets the same answer for a foreign id as for one that does not exist: %s", async (call) => {
      const { acme, globex, runtime } = await two();
      const foreign = await globex.start("asking", { workflowId: "secret" });
      await runtime.start("asking", { workflowId: "nobody's" });
      await runtime.start("asking", { workflowId: "bare", tenant: "globex" });
      for (const id of ["secret", foreign.workflowId, "nobody's", "bare"]) {
        const [known, unknown] = await Promise.all(
          [id, "x".repeat(id.length)].map((one) => calls[call]!(acme, one).catch((error: Error) => error)),
        );
        expect(JSON.stringify(unknown)).toContain("WORKFLOW_NOT_FOUND");
        expect(JSON.stringify(known).replaceAll(JSON.stringify(id).slice(1, -1), "ID")).toBe(
          JSON.stringify(unknown).replaceAll("x".repeat(id.length), "ID"),
        );
      }
    });

    it("reaches what was started for the tenant by the runtime itself, under its own id", async () => {
      const { acme, runtime } = await two();
      await runtime.start("asking", { workflowId: "old-1", tenant: "acme" });
      const run = await acme.get("old-1");
      expect(run.workflowId).toBe("old-1");
      await run.waitFor({ step: "q" });
      expect((await run.events()).items).toHaveLength(2);
      expect((await acme.list()).items.map(({ workflowId }) => workflowId)).toEqual(["old-1"]);
      await run.resume({ payload: { approved: true } });
      await run.result();
    });

    it("lists, counts and finds only its own", async () => {
      const { acme, globex, runtime } = await two();
      await acme.start("asking", { workflowId: "a-1" });
      await acme.start("listening", { workflowId: "a-2" });
      await globex.start("asking", { workflowId: "a-3" });
      await runtime.start("asking", { workflowId: "a-4" });
      const ids = (items: readonly { readonly workflowId: string }[]): string[] => items.map(({ workflowId }) => workflowId).sort();
      expect(ids((await acme.list()).items)).toEqual(['"acme"/a-1', '"acme"/a-2']);
      expect(ids((await acme.list({ idPrefix: "a-1" })).items)).toEqual(['"acme"/a-1']);
      expect(ids((await acme.list({ definitionId: "asking" })).items)).toEqual(['"acme"/a-1']);
      expect(Object.values((await acme.count()).counts).reduce((sum, count) => sum + count, 0)).toBe(2);
      expect(ids(await acme.summaries(["a-1", "a-3", "a-4", '"globex"/a-3', '"acme"/a-2']))).toEqual(['"acme"/a-1', '"acme"/a-2']);
      const many = Array.from({ length: 200 }, (_, index) => `a-${index}`);
      expect(ids(await acme.summaries(many))).toEqual(['"acme"/a-1', '"acme"/a-2']);
      for (const query of [() => acme.list({ tenant: "globex" }), () => acme.count({ tenant: "globex" })])
        expect(await codeOf(query())).toBe("OPTION_INVALID");
      expect(await codeOf(acme.start("asking", { tenant: "globex" }))).toBe("OPTION_INVALID");
    });

    it("moves many of its own, and no others", async () => {
      const { acme, globex, store } = await two();
      const mine = await acme.start("listening", { workflowId: "l" });
      const theirs = await globex.start("listening", { workflowId: "l" });
      for (const run of [mine, theirs]) await run.waitFor({ step: "s" });
      expect(await acme.broadcast("news", 1, { key: "k" })).toEqual({ reached: [mine.workflowId], refused: [] });
      await mine.result();
      await acme.start("asking", { workflowId: "q" });
      const outcomes: string[] = [];
      for await (const { workflowId, outcome } of acme.bulk({ action: "cancel" })) outcomes.push(`${workflowId} ${outcome}`);
      expect(outcomes).toEqual(['"acme"/q done']);
      expect((await store.load(theirs.workflowId))?.status).toBe("paused");
    });

    it("keeps forks, adoptions, children and what they are called within the tenant", async () => {
      const { acme, globex, runtime, store } = await two();
      const run = await acme.start("asking", { workflowId: "o" });
      await run.waitFor({ step: "q" });
      expect((await run.fork({ workflowId: "copy" })).workflowId).toBe('"acme"/copy');
      expect((await run.fork()).workflowId).toMatch(/^"acme"\/o~/);
      const snapshot = await (await runtime.start("asking", { workflowId: "elsewhere" })).settled();
      expect((await acme.adopt("asking", snapshot)).workflowId).toBe('"acme"/elsewhere');
      // a definition of one tenant cannot take an id of another, whatever it writes
      for (const [tenant, wanted, expected] of [
        [acme, "child", '"acme"/child'],
        [globex, "child", '"globex"/child'],
        [globex, '"acme"/other', '"globex"/"acme"/other'],
      ] as const) {
        await tenant.start("calling", { input: wanted });
        await eventually(async () => (await store.load(expected)) !== null);
      }
      expect(await store.load('"acme"/other')).toBeNull();
      expect((await store.load('"acme"/child'))!.tenant).toBe("acme");
    });

    it("has schedules of its own, under names that another one may use too", async () => {
      const { acme, globex, runtime, store } = await two();
      const spec = { workflow: "asking", every: "1h" } as const;
      expect(await acme.schedules.create("nightly", spec)).toMatchObject({ name: "nightly", tenant: "acme" });
      await globex.schedules.create("nightly", { ...spec, every: "2h" });
      await runtime.schedules.create("common", spec);
      await runtime.schedules.create("older", spec, { tenant: "acme" });
      expect((await acme.schedules.list()).items.map(({ name }) => name).sort()).toEqual(["nightly", "older"]);
      expect(await codeOf(acme.schedules.describe("common"))).toBe("SCHEDULE_NOT_FOUND");
      expect(await codeOf(acme.schedules.list({ tenant: "globex" }))).toBe("OPTION_INVALID");
      for (const name of ["nightly", "older"]) {
        await acme.schedules.pause(name, "holiday");
        expect(await acme.schedules.describe(name)).toMatchObject({ status: "paused", note: "holiday" });
        const { workflowId } = await acme.schedules.trigger(name);
        await eventually(async () => (await store.load(workflowId))?.tenant === "acme");
        await acme.schedules.delete(name);
      }
      expect(await globex.schedules.describe("nightly")).toMatchObject({ status: "active" });
    });

    it("writes who made each call, and lets nobody write another name", async () => {
      const { runtime } = await two();
      const ada = runtime.scoped({ tenant: "acme", by: "ada" });
      const run = await ada.start("asking", { workflowId: "w" });
      await run.waitFor({ step: "q" });
      await run.setMetadata({ a: 1 });
      const fork = await run.fork();
      await run.cancel();
      await run.settled();
      await run.restart();
      const { items } = await run.events();
      expect(items.filter(({ who }) => who === "ada").map(({ type }) => type)).toEqual([
        "started",
        "metadataSet",
        "cancelled",
        "restarted",
      ]);
      expect((await fork.events()).items[0]!.who).toBe("ada");
      for (const call of [() => run.cancel({ by: "bob" }), () => run.restart({ by: "bob" }), () => run.fork({ by: "bob" })])
        expect(await codeOf(call())).toBe("OPTION_INVALID");
      expect(await codeOf(ada.start("asking", { by: "bob" }))).toBe("OPTION_INVALID");
    });
  });
}

/** Shows that a scoped runtime asks the store for nothing more. @param open an empty store, and the statements that it has sent */
export function costsOfCallers(
  name: string,
  open: () => Promise<{ readonly store: SnapshotStore; readonly answers: readonly unknown[] }>,
): void {
  describe(`${name}: a runtime for one tenant`, () => {
    const benchOf = (store: SnapshotStore) => benches(async () => store);

    it("costs no statement more than one for all", async () => {
      const costs = await Promise.all(
        [{}, { tenant: "acme", by: "ada" }].map(async (scope) => {
          const { store, answers } = await open();
          const { runtime } = await benchOf(store)([asking], { drive: false });
          const scoped = runtime.scoped(scope);
          await scoped.start("asking");
          const counted: number[] = [];
          const count = async (call: () => Promise<unknown>): Promise<void> => {
            const before = answers.length;
            await call();
            counted.push(answers.length - before);
          };
          await count(() => scoped.start("asking", { workflowId: "a" }));
          await count(() => scoped.start("asking", { workflowId: "a" }));
          await count(() => scoped.get("a"));
          const run = await scoped.get("a");
          await count(() => run.snapshot());
          await count(() => run.events());
          await count(() => run.explain());
          await count(() => run.setMetadata({ x: 1 }));
          await count(() => scoped.list());
          await count(() => scoped.count());
          await count(() => scoped.summaries([run.workflowId]));
          await count(() => run.fork({ workflowId: "b" }));
          await count(() => run.cancel());
          await count(() => run.restart());
          return counted;
        }),
      );
      expect(costs[1]).toEqual(costs[0]);
      expect(Math.min(...costs[0]!)).toBeGreaterThan(0);
    });
  });
}
