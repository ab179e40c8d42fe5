import { describe, expect, it } from "vitest";
import { snapshotAfter, stepCommit } from "../../../src/testing/index.ts";
import { answer, atEveryCall, crashing, hour, interrupted, listed, setUp, waiting, write } from "./tiers.fixture.ts";

const lease = { owner: "w", leaseMs: 1000, limit: 10 };

describe("a move, at every call of which", () => {
  it("another process answers: the answer is applied once", async () => {
    await atEveryCall(
      async ({ other, commits }) => {
        const answered = stepCommit(commits.at(-1)!, { output: "answer", wakeAt: 0 });
        await other.commit(answered);
        await other.commit(answered);
        commits.push(answered);
      },
      async ({ other, commits }) => {
        expect(await other.load("a")).toEqual(snapshotAfter(...commits));
        expect(await other.claim(lease)).toMatchObject([{ version: 4 }]);
        expect(await other.claim(lease)).toEqual([]);
      },
    );
  });

  it("another process answers, and it waits again: the next move takes it", async () => {
    await atEveryCall(
      async ({ other, commits }) => {
        const child = { key: "0#2", head: { ...commits[1]!.children![0]!.head!, version: 4 } };
        const again = [{ key: "0#1", head: null }, child, commits[1]!.children![0]!];
        const answered = stepCommit(commits.at(-1)!, { outputs: [1, 2, 3], status: "paused", children: again });
        await other.commit(answered);
        commits.push(answered);
      },
      async ({ other, commits, hot, pass }) => {
        pass(hour);
        await other.move();
        expect(await listed(hot)).toEqual([]);
        const loaded = (await other.load("a"))!;
        expect(loaded).toEqual(snapshotAfter(...commits));
        expect(Object.keys(loaded.childStates!)).toEqual(["0#2", "0#1"]);
        await answer(other, "a");
        expect((await other.load("a"))!.version).toBe(7);
      },
    );
  });

  it("another process answers, after one that broke off anywhere: the answer is applied once", async () => {
    for (let broken = 0, isBroken = true; isBroken; broken++) {
      for (let position = 0, isMade = true; isMade; position++) {
        const { store, over, hot, cold, pass } = setUp();
        const commits = waiting("a", 9 * hour);
        await write(store, commits);
        pass(hour);
        const first = crashing({ hot, cold }, broken, "after");
        await over(first)
          .move()
          .catch(() => undefined);
        const second = interrupted({ hot, cold }, position, "before", () => answer(store, "a"));
        await over(second).move();
        isBroken = first.made() > broken;
        isMade = second.made() > position;
        if (!isMade) await answer(store, "a");
        const { context, version } = (await store.load("a"))!;
        expect([version, context.step?.filter(({ output }) => output === "answer").length]).toEqual([4, 1]);
        expect(await store.claim(lease)).toMatchObject([{ version: 4 }]);
        expect(await store.claim(lease)).toEqual([]);
        await store.commit(stepCommit((await store.load("a"))!, { status: "completed" }));
        pass(hour);
        await store.move();
        expect([await listed(hot), await listed(store), (await store.load("a"))!.version]).toEqual([[], ["a"], 5]);
      }
    }
  });
});
