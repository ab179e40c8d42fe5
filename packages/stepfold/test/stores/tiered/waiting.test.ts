import { describe, expect, it } from "vitest";
import { memoryStore } from "../../../src/stores/databases/memory/index.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { ended, hour, listed, setUp, waiting, write } from "./tiers.fixture.ts";

const lease = { owner: "w", leaseMs: 1000, limit: 10 };

describe("a move of executions that wait", () => {
  it("changes nothing for readers", async () => {
    const { store, hot, pass } = setUp();
    const commits = waiting("a", 9 * hour);
    await write(store, commits);
    pass(hour);
    const read = async () => [await store.load("a"), await store.events("a", -1, 10), await store.events("a", 2, 1), await store.list()];
    const before = await read();
    expect(await store.move()).toEqual({ moved: 1, left: [] });
    expect([await hot.load("a"), await listed(hot)]).toEqual([null, []]);
    expect(await read()).toEqual(before);
    expect(await store.load("a")).toEqual(snapshotAfter(...commits));
    for (const query of [{ status: ["paused"] }, { metadata: { id: "a" } }, { definitionId: "contract" }] as const) {
      expect(await listed(store, query)).toEqual(["a"]);
    }
    expect(await listed(store, { status: ["error", "cancelled", "active"] })).toEqual([]);
    expect(await store.move()).toEqual({ moved: 0, left: [] });
  });

  it("leaves what has something to do soon, what is held, and what is not waiting", async () => {
    const { store, cold, pass, now } = setUp();
    await write(store, waiting("soon", now() + 2 * hour));
    await write(store, waiting("overdue", now() + 1));
    await write(store, [startCommit("new", { status: "paused" })]);
    for (const status of ["active", "error", "parked"] as const) {
      const begun = startCommit(status);
      await write(store, [begun, stepCommit(begun, { status, wakeAt: null })]);
    }
    const held = startCommit("held");
    await store.create(held, { claim: lease });
    await store.commit(stepCommit(held, { status: "paused", fence: 1 }));
    pass(hour);
    await write(store, waiting("young"));
    expect(await store.move()).toEqual({ moved: 0, left: [] });
    expect(await listed(cold)).toEqual([]);
  });

  it("leaves what has messages to deliver", async () => {
    const { store, cold, pass } = setUp();
    const first = startCommit("a");
    const outbox = [{ id: "m", to: "b", type: "cancel", waitId: "w" } as const];
    await write(store, [first, stepCommit(first, { status: "paused", head: { outbox } })]);
    pass(hour);
    expect(await store.move()).toEqual({ moved: 0, left: [] });
    expect(await listed(cold)).toEqual([]);
  });

  it("leaves executions with a concurrency key until they have ended, however many there are", async () => {
    const { store, cold, pass } = setUp();
    expect(store.features.permits).toBe(true);
    const permit = { key: "customer-7", limit: 1 };
    const inLine = ["first", "second", "third"].map((id) => startCommit(id, { head: { permit } }));
    for (const commit of inLine) await write(store, [commit, stepCommit(commit, { status: "paused", wakeAt: null, head: { permit } })]);
    pass(1);
    await write(store, waiting("free"));
    pass(hour);
    expect(await store.move({ limit: 1 })).toEqual({ moved: 1, left: [] });
    expect(await listed(cold)).toEqual(["free"]);
    const paused = stepCommit(inLine[0]!, { status: "paused", wakeAt: null, head: { permit } });
    await store.commit(stepCommit(paused, { status: "completed", head: { permit } }));
    pass(hour);
    expect(await store.move()).toEqual({ moved: 1, left: [] });
    expect(await store.load("first")).toMatchObject({ status: "completed", permit });
    expect(await listed(cold)).toContain("first");
  });

  it("leaves executions with a rate limit until they have ended, and these do not wait in the cold store", async () => {
    const { store, hot, cold, pass } = setUp();
    const rate = { key: "x", limit: 1, periodMs: hour };
    const first = startCommit("a", { head: { rate } });
    const paused = stepCommit(first, { status: "paused", wakeAt: null, head: { rate } });
    await write(store, [first, paused]);
    pass(hour);
    expect(await store.move()).toEqual({ moved: 0, left: [] });
    await hot.commit(stepCommit(paused, { status: "completed", head: { rate } }));
    pass(hour);
    expect(await store.move()).toEqual({ moved: 1, left: [] });
    expect((await cold.list()).items[0]).toMatchObject({ status: "completed", wakeAt: null, lease: null });
  });

  it("leaves in the hot store what the cold one does not give back, and what it refuses", async () => {
    const { over, hot, cold, pass } = setUp();
    const forgetful = { ...cold, load: async (id: string) => ({ ...(await cold.load(id))!, childStates: {} }) };
    await write(hot, waiting("garbled"));
    await write(hot, waiting("taken"));
    await write(cold, [startCommit("taken", { status: "completed" })]);
    pass(hour);
    expect(await over({ hot, cold: forgetful }).move()).toEqual({ moved: 0, left: ["garbled", "taken"] });
    expect((await hot.list({ status: ["paused"] })).items).toHaveLength(2);
    expect(await over({ hot, cold }).move()).toEqual({ moved: 1, left: ["taken"] });
  });

  it("is made again where a backup brought the original back", async () => {
    const { store, over, cold, pass, now } = setUp();
    const executions = [waiting("same", 9 * hour), waiting("went on")] as const;
    for (const commits of executions) await write(store, commits);
    pass(hour);
    await store.move();
    await store.commit(stepCommit(executions[1][2], { output: "cold" }));
    const restored = memoryStore({ now });
    for (const commits of executions) await write(restored, commits);
    const after = over({ hot: restored, cold });
    expect((await after.list()).items).toHaveLength(2);
    pass(hour);
    // an execution in both stores counts as hot; it is moved again if both copies are equal, and stays if they differ
    expect(await after.move()).toEqual({ moved: 1, left: ["went on"] });
    expect(await listed(restored)).toEqual(["went on"]);
    for (const commits of executions) expect(await after.load(commits[0].workflowId)).toEqual(snapshotAfter(...commits));
    pass(9 * hour);
    expect((await after.claim(lease)).map(({ workflowId }) => workflowId)).toEqual(["same"]);
  });

  it("may be made by two at once", async () => {
    const { store, over, hot, cold, pass } = setUp();
    const all = Array.from({ length: 10 }, (_, index) => (index % 2 ? waiting(`id-${index}`) : ended(`id-${index}`)));
    for (const commits of all) await write(store, commits);
    pass(hour);
    await Promise.all([store.move(), over({ hot, cold }).move()]);
    expect([await listed(hot), (await listed(store)).length]).toEqual([[], 10]);
    for (const commits of all) expect(await store.load(commits[0].workflowId)).toEqual(snapshotAfter(...commits));
  });
});
