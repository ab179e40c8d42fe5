import { describe, expect, it } from "vitest";
import { tieredStore } from "../../../src/stores/wrappers/tiered/index.ts";
import { snapshotAfter, startCommit } from "../../../src/testing/index.ts";
import { recorded } from "../values/values.fixture.ts";
import { crashing, ended, hour, listed, setUp, write } from "./tiers.fixture.ts";

describe("a crash in the middle", () => {
  for (const when of ["before", "after"] as const) {
    it(`of a move, ${when} any call of the stores: nothing is lost or doubled, and the next move ends it`, async () => {
      for (let position = 0; ; position++) {
        const { store, hot, cold, pass, now } = setUp();
        const executions = [ended("a"), ended("b"), [startCommit("short", { status: "failed" })]];
        for (const commits of executions) await write(store, commits);
        pass(hour);
        const broken = crashing({ hot, cold }, position, when);
        await tieredStore({ hot: broken.hot, cold: broken.cold, coldAfterMs: hour, now })
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
        // the move copies the execution completely, but cannot delete the original
        const stuck = { ...hot, delete: () => Promise.reject(new TypeError("crash")) };
        await expect(tieredStore({ hot: stuck, cold, coldAfterMs: hour, now }).move()).rejects.toThrow();
        const broken = crashing({ hot, cold }, position, when);
        await tieredStore({ hot: broken.hot, cold: broken.cold, coldAfterMs: hour, now })
          .delete("a")
          .catch(() => undefined);
        await store.delete("a").catch((error: unknown) => expect(error).toMatchObject({ code: "WORKFLOW_NOT_FOUND" }));
        await store.move();
        expect([await store.load("a"), await hot.load("a"), await cold.load("a"), await listed(store)]).toEqual([null, null, null, []]);
        if (broken.made() <= position) break;
      }
    });
  }

  it("leaves a copy of what was deleted since: it is not shown, and the next move deletes it", async () => {
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
