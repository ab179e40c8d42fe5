import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import { tieredStore } from "../../../src/stores/wrappers/tiered/tiered-store.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { hour, listed, setUp, waiting, write } from "./tiers.fixture.ts";

const lease = { owner: "w", leaseMs: 1000, limit: 10 };

/** Makes an execution that was moved to the cold store. */
async function movedOne(wakeAt: number | null = null) {
  const around = setUp();
  const commits = waiting("a", wakeAt);
  await write(around.store, commits);
  around.pass(hour);
  expect(await around.store.move()).toEqual({ moved: 1, left: [] });
  return { ...around, commits, last: commits[2] };
}

describe("an execution that waits in the cold store", () => {
  it("is answered there, once", async () => {
    const { store, cold, hot, commits, last, pass } = await movedOne();
    for (const commit of commits.slice(1)) await store.commit(commit);
    expect(await store.create(commits[0])).toBeNull();
    await expect(store.create(startCommit("a"))).rejects.toMatchObject({ code: "WORKFLOW_EXISTS" });
    const conflict = { code: "VERSION_CONFLICT", details: { workflowId: "a", expected: 1, actual: 3 } };
    await expect(store.commit({ ...stepCommit(last), expectedVersion: 1 })).rejects.toMatchObject(conflict);
    const gone = { code: "VERSION_CONFLICT", details: { actual: null } };
    await expect(store.commit({ ...stepCommit(last), incarnation: "other" })).rejects.toMatchObject(gone);

    pass(5);
    const answer = stepCommit(last, { output: "yes" });
    await store.commit(answer);
    await store.commit(answer);
    expect(await store.load("a")).toEqual(snapshotAfter(...commits, answer));
    expect(JSON.stringify([await store.load("a"), await store.events("a", -1, 9), await store.list()])).not.toContain("~stepfold");
    expect((await store.list()).items).toMatchObject([{ status: "active", createdAt: 1_000_000, updatedAt: 1_000_005 + hour }]);
    expect(await hot.load("a")).toBeNull();
    expect(await cold.load("a")).toMatchObject({ version: 4, "~stepfold/tiered": true });
  });

  it("takes a commit as it was when it was handed over, and commits in their order", async () => {
    const { store, commits, last } = await movedOne();
    const second = stepCommit(last, { output: { said: "first" } });
    const third = stepCommit(second, { output: "second" });
    const expected = snapshotAfter(...commits, ...structuredClone([second, third]));
    const written = [store.commit(second), store.commit(third)];
    Object.assign(second.events[0]!, { output: { said: "another" } });
    await Promise.all(written);
    expect(await store.load("a")).toEqual(expected);
  });

  it("is due at its time, for any worker", async () => {
    const { store, hot, commits, last, pass } = await movedOne(9 * hour);
    expect(await store.claim(lease)).toEqual([]);
    pass(8 * hour);
    await write(store, [startCommit("b")]);
    expect((await store.claim({ ...lease, limit: 1 })).map(({ workflowId }) => workflowId)).toEqual(["b"]);
    const [{ claim, snapshot } = expect.fail("nothing was claimed")] = await claimAndLoad(store, lease);
    expect(snapshot).toEqual(snapshotAfter(...commits));
    expect(claim).toMatchObject({ workflowId: "a", owner: "w", incarnation: last.incarnation });
    for (const fence of [1, claim.fence + 1, claim.fence - 1]) {
      await expect(store.commit(stepCommit(last, { fence }))).rejects.toMatchObject({ code: "FENCE_LOST" });
      await expect(store.renew({ ...claim, fence })).rejects.toMatchObject({ code: "FENCE_LOST" });
    }
    expect(await store.renew(claim)).toMatchObject({ version: 3, status: "paused" });
    const fired = stepCommit(last, { fence: claim.fence });
    await store.commit(fired);
    await expect(store.release(claim, 3)).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    await store.release(claim, 4);
    expect(await claimAndLoad(store, { ...lease, workflowId: "a" })).toMatchObject([{ claim: { version: 4 }, snapshot: { version: 4 } }]);
    expect(await store.load("a")).toEqual(snapshotAfter(...commits, fired));
    expect(await hot.load("a")).toBeNull();
  });

  it("is claimed although another one there is damaged", async () => {
    const around = setUp();
    for (const id of ["a", "b"]) await write(around.store, waiting(id, 9 * hour));
    around.pass(hour);
    expect(await around.store.move()).toEqual({ moved: 2, left: [] });
    around.pass(9 * hour);
    const damage = new StepfoldError("STORE_REJECTED", { store: "memory", reason: "damaged" });
    const cold = { ...around.cold, load: async (id: string) => (id === "a" ? Promise.reject(damage) : around.cold.load(id)) };
    const store = tieredStore({ hot: around.hot, cold });
    expect((await store.claim(lease)).map(({ workflowId }) => workflowId)).toEqual(["b"]);
    expect(await store.claim(lease)).toEqual([]);
  });

  it("is cancelled, deleted and pruned as any other", async () => {
    const { store, hot, cold, last, pass, now } = await movedOne();
    await expect(store.delete("a")).rejects.toMatchObject({ code: "EXECUTION_OPEN" });
    expect(await store.prune({ before: now() + 1 })).toMatchObject({ executions: 0, events: 0 });
    await store.commit(stepCommit(last, { status: "cancelled" }));
    await expect(store.commit(stepCommit(last))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    expect(await listed(store, { status: ["cancelled"] })).toEqual(["a"]);
    await store.delete("a");
    await expect(store.delete("a")).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
    expect([await store.load("a"), await hot.load("a"), await cold.load("a")]).toEqual([null, null, null]);

    const other = waiting("b");
    await write(store, other);
    pass(hour);
    await store.move();
    await store.commit(stepCommit(other[2], { status: "completed" }));
    pass(1);
    expect(await store.prune({ before: now() })).toMatchObject({ executions: 1, events: 5 });
    expect(await listed(store)).toEqual([]);
  });

  it("belongs to another store if no move put it there: it is neither shown nor held", async () => {
    const { store, cold } = setUp();
    await write(cold, [startCommit("of others")]);
    expect([await store.claim(lease), await store.load("of others"), await listed(store)]).toEqual([[], null, []]);
    expect(await cold.claim(lease)).toHaveLength(1);
  });
});

describe("a store that does not answer", () => {
  it("does not keep back what was claimed in the other one", async () => {
    const { store, over, hot, cold } = setUp();
    const silent = { ...cold, claim: () => Promise.reject(new TypeError("silent")) };
    await write(store, [startCommit("a")]);
    expect(await over({ hot, cold: silent }).claim(lease)).toMatchObject([{ workflowId: "a" }]);
    await expect(over({ hot, cold: silent }).claim(lease)).rejects.toMatchObject({ code: "STORE_REJECTED" });
  });
});
