import { describe, expect, it } from "vitest";
import type { Commit } from "../../../src/ports/snapshot-store.ts";
import { stepCommit } from "../../../src/testing/index.ts";
import { answer, check, crashing, ended, hour, listed, setUp, waiting, write } from "./tiers.fixture.ts";

const lease = { owner: "w", leaseMs: 1000, limit: 10 };

describe("a crash in the middle of a move of what waits", () => {
  for (const when of ["before", "after"] as const) {
    it(`${when} any call of the stores: nothing is lost or doubled, and the next move ends it`, async () => {
      for (let position = 0; ; position++) {
        const { store, over, hot, cold, pass } = setUp();
        const executions = [waiting("a"), waiting("b", 9 * hour), ended("c")];
        for (const commits of executions) await write(store, commits);
        pass(hour);
        const broken = crashing({ hot, cold }, position, when);
        await over(broken)
          .move()
          .catch(() => undefined);
        await check(store, executions);
        await store.move();
        expect(await listed(hot)).toEqual([]);
        await check(store, executions);
        if (broken.made() <= position) break;
      }
    });

    it(`${when} any call of the stores: it wakes up at its time, is driven by one, and can be answered once`, async () => {
      for (let position = 0; ; position++) {
        const { store, over, hot, cold, pass, now } = setUp();
        const commits = waiting("a", 9 * hour);
        await write(store, commits);
        pass(hour);
        const broken = crashing({ hot, cold }, position, when);
        await over(broken)
          .move()
          .catch(() => undefined);
        pass(8 * hour);
        // the interrupted move has not ended the execution
        const claimed = await store.claim(lease);
        expect(claimed).toMatchObject([{ workflowId: "a", claimedAt: now(), version: 3 }]);
        expect(await store.load("a")).toMatchObject({ version: 3 });
        expect(await store.claim(lease)).toEqual([]);
        const claim = claimed[0]!;
        const fired = stepCommit(commits[2], { fence: claim.fence, release: true, status: "paused" });
        await store.commit(fired);
        await answer(store, "a");
        const last = stepCommit((await store.load("a"))!, { status: "completed" });
        await store.commit(last);
        pass(hour);
        await store.move();
        expect([await listed(hot), await listed(store)]).toEqual([[], ["a"]]);
        expect((await store.load("a"))!.version).toBe(6);
        if (broken.made() <= position) break;
      }
    });

    it(`${when} any call of the stores: it can be cancelled and deleted, and pruned`, async () => {
      for (let position = 0; ; position++) {
        const { store, over, hot, cold, pass, now } = setUp();
        const executions = [waiting("a"), waiting("b")];
        for (const commits of executions) await write(store, commits);
        pass(hour);
        const broken = crashing({ hot, cold }, position, when);
        await over(broken)
          .move()
          .catch(() => undefined);
        expect((await store.prune({ before: Number.MAX_SAFE_INTEGER, dryRun: true })).executions).toBeLessThanOrEqual(1);
        await store.prune({ before: Number.MAX_SAFE_INTEGER });
        await check(store, executions);
        await expect(store.delete("a")).rejects.toMatchObject({ code: "EXECUTION_OPEN" });
        for (const commits of executions) await store.commit(stepCommit(commits[2], { status: "cancelled" }));
        await store.delete("a");
        pass(1);
        expect((await store.prune({ before: now() })).executions).toBe(1);
        await store.move();
        expect([await listed(hot), await listed(cold), await listed(store)]).toEqual([[], [], []]);
        if (broken.made() <= position) break;
      }
    });
  }

  it("leaves a copy that wakes up and is left alone: it counts no crashes, and the next move goes on with it", async () => {
    for (const more of [1, 2, 3]) {
      const { store, over, hot, cold, pass } = setUp();
      const commits: Commit[] = waiting("a", 9 * hour);
      await write(store, commits);
      pass(hour);
      const dying = { ...hot, commit: () => Promise.reject(new TypeError("crash")) };
      await expect(over({ hot: dying, cold }).move()).rejects.toThrow();
      pass(8 * hour);
      const outputs = Array.from({ length: more }, (_, index) => index);
      for (const output of outputs) commits.push(stepCommit(commits.at(-1)!, { output, status: "paused" }));
      for (const commit of commits.slice(3)) await store.commit(commit);
      for (let polls = 0; polls < 3; polls++) {
        expect(await store.claim(lease)).toEqual([]);
        pass(lease.leaseMs);
      }
      await check(store, [commits]);
      pass(hour);
      expect(await store.move()).toEqual({ moved: 1, left: [] });
      await check(store, [commits]);
      await answer(store, "a");
      expect(await store.claim(lease)).toMatchObject([{ crashes: 0 }]);
    }
  });
});
