import { describe, expect, it } from "vitest";
import { ended, hour, listed, setUp, write } from "../../../../test/stores/tiered/tiers.fixture.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../testing/index.ts";
import { tieredStore } from "./index.ts";

describe("a move", () => {
  it("takes what ended long ago, and nothing changes for readers", async () => {
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
    expect(await listed(store, { metadata: { id: { gte: "b" } } })).toEqual(["b"]);
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
    expect(await store.prune({ before: now(), dryRun: true })).toMatchObject({ executions: 2, events: 8 });
    expect(await store.prune({ before: now(), limit: 1 })).toMatchObject({ executions: 1, events: 4 });
    expect(await listed(hot)).toHaveLength(1);
    expect(await store.prune({ before: now() })).toMatchObject({ executions: 1, events: 4 });
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

  it("goes on after a page of the cold store that has looked at many executions, and found few", async () => {
    const { store, hot, cold, pass, over } = setUp();
    for (let index = 0; index < 7; index++) await write(store, ended(`cold-${index}`));
    pass(hour);
    await store.move();
    for (let index = 0; index < 2; index++) await store.create(startCommit(`hot-${index}`));
    // looks at two executions in one call
    const list: typeof cold.list = async ({ metadata: _, ...query } = {}) => {
      const page = await cold.list({ ...query, limit: Math.min(2, query.limit!) });
      return { ...page, items: page.items.filter(({ metadata }) => metadata.id === "cold-2") };
    };
    const tiers = over({ hot, cold: { ...cold, list } });
    for (const limit of [1, 3]) expect(await listed(tiers, { limit, metadata: { id: { gt: "" } } }), `${limit}`).toEqual(["cold-2"]);
  });
});
