import { describe, expect, it } from "vitest";
import type { Commit, SnapshotStore } from "../../ports/snapshot-store.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../testing/index.ts";
import { memoryStore } from "../memory/index.ts";
import { recorded } from "../values/values.fixture.ts";
import { tieredStore } from "./index.ts";

const hour = 3_600_000;

function setUp() {
  let time = 1_000_000;
  const now = () => time;
  const [hot, cold] = [memoryStore({ now, idempotencyRetentionMs: hour }), memoryStore({ now, idempotencyRetentionMs: hour })];
  const pass = (durationMs: number): void => {
    time += durationMs;
  };
  return { hot, cold, pass, now, store: tieredStore({ hot, cold, coldAfterMs: hour, now }) };
}

/** An execution of three commits. */
function ended(id: string, more: Parameters<typeof startCommit>[1] = {}): [Commit, Commit, Commit] {
  const child = { workflow: "inner", status: "completed", currentNodeId: null, activePaths: [], version: 2, kept: true } as const;
  const first = startCommit(id, { input: { id }, metadata: { id }, ...more });
  const second = stepCommit(first, { outputs: [1, { two: 2 }], children: [{ key: "0#1", head: child }] });
  return [first, second, stepCommit(second, { output: "end", status: "completed" })];
}

async function write(store: SnapshotStore, [first, ...rest]: readonly Commit[]): Promise<void> {
  await store.create(first!);
  for (const commit of rest) await store.commit(commit);
}

async function listed(store: SnapshotStore, query: Parameters<SnapshotStore["list"]>[0] = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await store.list({ ...query, ...(cursor !== undefined && { cursor }) });
    ids.push(...page.items.map(({ workflowId }) => workflowId));
    cursor = page.nextCursor;
  }
  return ids;
}

describe("a move", () => {
  it("takes what ended long ago, and nothing changes for whoever reads", async () => {
    const { store, hot, cold, pass } = setUp();
    const commits = ended("old");
    await write(store, commits);
    await write(store, [startCommit("paused", { status: "paused" })]);
    pass(hour);
    await write(store, ended("young"));
    const before = [await store.load("old"), await store.events("old", -1, 10), (await store.list()).items[2]];
    expect(await store.move()).toEqual({ moved: 1, left: [] });
    expect([await hot.load("old"), await cold.load("young"), await cold.load("paused")]).toEqual([null, null, null]);
    expect(before).toEqual([await store.load("old"), await store.events("old", -1, 10), (await store.list()).items[2]]);
    expect(await store.load("old")).toEqual(snapshotAfter(...commits));
    expect(await store.move()).toEqual({ moved: 0, left: [] });
  });

  it("takes the least recently changed first, and no more than asked", async () => {
    const { store, cold, pass } = setUp();
    for (const id of ["a", "b", "c"]) {
      await write(store, ended(id));
      pass(1);
    }
    pass(hour);
    expect(await store.move({ limit: 2 })).toEqual({ moved: 2, left: [] });
    expect((await listed(cold)).sort()).toEqual(["a", "b"]);
    await expect(store.move({ limit: 0 })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  it("takes the definition along", async () => {
    const { store, cold, pass } = setUp();
    const definition = { id: "contract", nodes: [], edges: [] };
    await store.putDefinition("hash-of-contract", definition);
    await write(store, ended("a"));
    pass(hour);
    await store.move();
    expect(await cold.getDefinition("hash-of-contract")).toEqual(definition);
  });

  it("leaves in the hot store what the cold one refuses or does not give back", async () => {
    const { store, hot, cold, pass, now } = setUp();
    for (const id of ["taken", "fine"]) await write(store, ended(id));
    await cold.create(startCommit("taken", { status: "completed" }));
    pass(hour);
    expect(await store.move()).toEqual({ moved: 1, left: ["taken"] });
    expect(await store.load("taken")).toMatchObject({ context: { step: [{}, {}, {}] } });

    await write(store, ended("garbled"));
    pass(hour);
    const forgetful = { ...cold, load: async (id: string) => ({ ...(await cold.load(id))!, output: "another" }) };
    expect(await tieredStore({ hot, cold: forgetful, coldAfterMs: 0, now }).move()).toEqual({ moved: 0, left: ["taken", "garbled"] });
    expect(await hot.load("garbled")).not.toBeNull();
  });

  it("loses nothing where both stores are the same, nor what others keep in the cold one", async () => {
    const { store, hot, cold, pass, now } = setUp();
    await write(store, ended("a"));
    await write(cold, [startCommit("of others", { status: "paused" })]);
    pass(hour);
    expect(() => tieredStore({ hot, cold: hot })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(await tieredStore({ hot, cold: { ...hot }, coldAfterMs: 0, now }).move()).toEqual({ moved: 0, left: ["a"] });
    expect(await store.load("a")).not.toBeNull();
    await store.move();
    expect(await cold.load("of others")).toMatchObject({ status: "paused" });
  });

  it("may be made by two at once", async () => {
    const { store, hot, cold, pass, now } = setUp();
    const all = Array.from({ length: 10 }, (_, index) => ended(`id-${index}`));
    for (const commits of all) await write(store, commits);
    pass(hour);
    const other = tieredStore({ hot, cold, coldAfterMs: hour, now });
    await Promise.all([store.move(), other.move()]);
    expect(await listed(hot)).toEqual([]);
    for (const commits of all) expect(await store.load(commits[0].workflowId)).toEqual(snapshotAfter(...commits));
  });
});

describe("an execution that was moved", () => {
  it("answers as any other that has ended", async () => {
    const { store, pass } = setUp();
    const [first, second, third] = ended("a");
    await write(store, [first, second, third]);
    pass(hour);
    await store.move();
    await store.commit(second);
    await store.commit(third);
    expect(await store.create(first)).toBeNull();
    await expect(store.commit(stepCommit(third))).rejects.toMatchObject({ code: "EXECUTION_ENDED" });
    await expect(store.commit(stepCommit(first))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    await expect(store.create(startCommit("a"))).rejects.toMatchObject({ code: "WORKFLOW_EXISTS" });
    expect(await store.claim({ owner: "w", leaseMs: 1000, limit: 10 })).toEqual([]);
    pass(2 * hour);
    await store.prune({ before: 0 });
    await expect(store.create(startCommit("a"))).rejects.toMatchObject({ code: "WORKFLOW_EXISTS" });
    await store.delete("a");
    expect([await store.load("a"), await store.events("a", -1, 10), await listed(store)]).toEqual([null, [], []]);
    await expect(store.delete("a")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
  });

  it("is found by status, definition, metadata and the time it was created", async () => {
    const { store, pass, now } = setUp();
    await write(store, ended("a", { definitionId: "x" }));
    const between = now() + 1;
    pass(10);
    await write(store, ended("b", { definitionId: "y" }));
    pass(hour);
    await store.move();
    expect(await listed(store, { definitionId: "x" })).toEqual(["a"]);
    expect(await listed(store, { metadata: { id: "b" } })).toEqual(["b"]);
    expect(await listed(store, { createdBefore: between })).toEqual(["a"]);
    expect(await listed(store, { createdAfter: between })).toEqual(["b"]);
    expect(await listed(store, { status: ["active", "failed"] })).toEqual([]);
    expect(await listed(store, { status: ["completed"] })).toHaveLength(2);
  });

  it("is pruned with the others", async () => {
    const { store, hot, pass, now } = setUp();
    for (const id of ["a", "b"]) await write(store, ended(id));
    pass(hour);
    await store.move({ limit: 1 });
    pass(1);
    expect(await store.prune({ before: now(), dryRun: true })).toEqual({ executions: 2, events: 8 });
    expect(await store.prune({ before: now(), limit: 1 })).toEqual({ executions: 1, events: 4 });
    expect(await listed(hot)).toHaveLength(1);
    expect(await store.prune({ before: now() })).toEqual({ executions: 1, events: 4 });
    expect(await listed(store)).toEqual([]);
  });
});

describe("the list of both", () => {
  it("has everything once, hot first, whatever the size of its pages", async () => {
    const { store, pass } = setUp();
    for (let index = 0; index < 7; index++) await write(store, ended(`cold-${index}`));
    pass(hour);
    await store.move();
    for (let index = 0; index < 5; index++) await store.create(startCommit(`hot-${index}`));
    for (const limit of [1, 2, 4, 5, 6, 11, 12, 13, 1000]) {
      const ids = await listed(store, { limit });
      expect(ids.slice(0, 5)).toEqual(["hot-4", "hot-3", "hot-2", "hot-1", "hot-0"]);
      expect(ids.slice(5).sort()).toEqual(Array.from({ length: 7 }, (_, index) => `cold-${index}`));
    }
    expect((await store.list({ limit: 12 })).nextCursor).toBeNull();
  });
});

/** Fails at its n-th call of all, before or after it was made; then never again. */
function crashing(stores: { hot: SnapshotStore; cold: SnapshotStore }, position: number, when: "before" | "after") {
  let calls = 0;
  const wrap = (inner: SnapshotStore): SnapshotStore =>
    new Proxy(inner, {
      get(target, name: keyof SnapshotStore) {
        const member = target[name];
        if (typeof member !== "function") return member;
        return async (...given: unknown[]) => {
          const dies = calls++ === position;
          if (dies && when === "before") throw new TypeError("crash");
          const answer = await (member as (...given: unknown[]) => unknown)(...given);
          if (dies) throw new TypeError("crash");
          return answer;
        };
      },
    });
  return { hot: wrap(stores.hot), cold: wrap(stores.cold), made: () => calls };
}

describe("a crash in the middle", () => {
  for (const when of ["before", "after"] as const) {
    it(`of a move, ${when} any call of the stores: nothing is lost or doubled, and the next move ends it`, async () => {
      for (let position = 0; ; position++) {
        const { store, hot, cold, pass, now } = setUp();
        const executions = [ended("a"), ended("b"), [startCommit("short", { status: "failed" })]];
        for (const commits of executions) await write(store, commits);
        pass(hour);
        const broken = crashing({ hot, cold }, position, when);
        await tieredStore({ ...broken, coldAfterMs: hour, now })
          .move()
          .catch(() => undefined);
        const check = async (): Promise<void> => {
          for (const commits of executions) {
            const { workflowId } = commits[0]!;
            expect(await store.load(workflowId)).toEqual(snapshotAfter(...commits));
            const events = (await store.events(workflowId, -1, 100)).map(({ event, commitId }) => ({ event, commitId }));
            expect(events).toEqual(commits.flatMap(({ events: made, commitId }) => made.map((event) => ({ event, commitId }))));
            for (const commit of commits.slice(1)) await store.commit(commit);
          }
          expect((await listed(store, { limit: 2 })).sort()).toEqual(["a", "b", "short"]);
        };
        await check();
        await store.move();
        expect(await listed(hot)).toEqual([]);
        await check();
        if (broken.made() <= position) break;
      }
    });

    it(`of a deletion, ${when} any call of the stores: it can be made again`, async () => {
      for (let position = 0; ; position++) {
        const { store, hot, cold, pass, now } = setUp();
        await write(store, ended("a"));
        pass(hour);
        // a copy that is complete, of what is still there
        const stuck = { ...hot, delete: () => Promise.reject(new TypeError("crash")) };
        await expect(tieredStore({ hot: stuck, cold, coldAfterMs: hour, now }).move()).rejects.toThrow();
        const broken = crashing({ hot, cold }, position, when);
        await tieredStore({ ...broken, coldAfterMs: hour, now })
          .delete("a")
          .catch(() => undefined);
        await store.delete("a").catch((error: unknown) => expect(error).toMatchObject({ code: "WORKFLOW_NOT_FOUND" }));
        await store.move();
        expect([await store.load("a"), await hot.load("a"), await cold.load("a"), await listed(store)]).toEqual([null, null, null, []]);
        if (broken.made() <= position) break;
      }
    });
  }

  it("leaves a copy of what was deleted since: nobody sees it, and the next move ends it", async () => {
    const { store, hot, cold, pass, now } = setUp();
    await write(store, ended("a"));
    pass(hour);
    const { store: seen, told } = recorded(cold);
    const stuck = { ...seen, commit: () => Promise.reject(new TypeError("crash")), create: seen.create, load: seen.load };
    await expect(tieredStore({ hot, cold: { ...cold, ...stuck }, coldAfterMs: hour, now }).move()).rejects.toThrow();
    expect(told.some((call) => call.startsWith("create"))).toBe(true);
    await hot.delete("a");
    expect([await store.load("a"), await listed(store)]).toEqual([null, []]);
    await store.move();
    expect(await cold.load("a")).toBeNull();
    pass(2 * hour);
    await store.create(startCommit("a"));
    expect(await store.load("a")).toMatchObject({ version: 0 });
  });
});
