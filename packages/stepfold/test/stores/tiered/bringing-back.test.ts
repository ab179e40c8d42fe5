import { describe, expect, it } from "vitest";
import type { Commit } from "../../../src/ports/snapshot-store.ts";
import { nextRun, reopening } from "../../../src/testing/contract/records/runs.ts";
import { snapshotAfter, startCommit, stepCommit } from "../../../src/testing/index.ts";
import { check, crashing, ended, hour, interrupted, listed, setUp, waiting, write } from "./tiers.fixture.ts";

/** An execution that has failed and lies in the cold store, and the commit that opens it again. */
async function failedInCold(commits: readonly Commit[] = ended("a")) {
  const around = setUp();
  const failed = [...commits.slice(0, -1), { ...commits.at(-1)!, head: { ...commits.at(-1)!.head, status: "failed" as const } }];
  await write(around.store, failed);
  around.pass(hour);
  expect((await around.store.move()).moved).toBe(1);
  return { ...around, commits: failed, again: reopening(failed.at(-1)!) };
}

describe("a restart of an execution in the cold store", () => {
  it("moves it back to the hot store, with its history", async () => {
    const { store, hot, cold, commits, again, pass } = await failedInCold();
    await store.commit(again);
    await check(store, [[...commits, again]]);
    expect([(await hot.load("a"))?.version, await cold.load("a")]).toEqual([again.head.version, null]);
    await store.commit(again);
    const end = stepCommit(again, { output: "end", status: "completed" });
    await store.commit(end);
    await store.commit(again);
    pass(hour);
    expect(await store.move()).toEqual({ moved: 1, left: [] });
    await check(store, [[...commits, again, end]]);
    expect([await hot.load("a"), (await cold.load("a"))?.status]).toEqual([null, "completed"]);
  });

  it("is refused there as everywhere if the version is another one", async () => {
    const { store, hot, cold, commits } = await failedInCold();
    await expect(store.commit(reopening(commits[1]!))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    await expect(store.commit({ ...reopening(commits[1]!), incarnation: "other" })).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    await check(store, [commits]);
    expect([(await hot.load("a"))?.status, (await cold.load("a"))?.status].filter(Boolean).length).toBeGreaterThan(0);
  });

  it("works if it waited when it was moved, and its redirect is still there", async () => {
    const around = setUp();
    const commits = waiting("a", 9 * hour);
    await write(around.store, commits);
    around.pass(hour);
    // the move is interrupted after the redirect: at its last call
    const deleting = new Proxy(around.hot, {
      get: (target, name: keyof typeof around.hot) =>
        name === "delete" ? () => Promise.reject(new TypeError("crash")) : (target[name] as unknown),
    });
    await expect(around.over({ hot: deleting, cold: around.cold }).move()).rejects.toThrow();
    const end = stepCommit(commits.at(-1)!, { status: "failed" });
    await around.store.commit(end);
    expect((await around.hot.load("a"))?.status).toBe("cancelled");
    const again = reopening(end);
    await around.store.commit(again);
    await check(around.store, [[...commits, end, again]]);
  });

  it.each(["before", "after"] as const)("can be interrupted %s every call, and is made again", async (when) => {
    for (let position = 0; ; position++) {
      const { store, hot, cold, over, commits, again, pass } = await failedInCold();
      const tiers = crashing({ hot, cold }, position, when);
      const outcome = await over(tiers)
        .commit(again)
        .catch(() => "crashed");
      if (tiers.made() <= position) break;
      const isMade = (await store.load("a"))?.version === again.head.version;
      await check(store, [isMade ? [...commits, again] : commits]);
      if (outcome === undefined) expect(isMade).toBe(true);
      // a move that comes between finishes what was interrupted
      if (position % 2) pass(hour);
      if (position % 2) await store.move();
      await check(store, [isMade ? [...commits, again] : commits]);
      await store.commit(again);
      await check(store, [[...commits, again]]);
      const end = stepCommit(again, { status: "completed" });
      await store.commit(end);
      pass(hour);
      expect([position, await store.move()]).toEqual([position, { moved: 1, left: [] }]);
      await check(store, [[...commits, again, end]]);
      expect([await hot.load("a"), (await cold.load("a"))?.version]).toEqual([null, end.head.version]);
    }
  });

  it.each(["before", "after"] as const)("is safe against a move of another process %s every call", async (when) => {
    for (let position = 0; ; position++) {
      const { hot, cold, over, commits, again, store } = await failedInCold();
      const other = over({ hot, cold });
      const tiers = interrupted({ hot, cold }, position, when, async () => void (await other.move()));
      await over(tiers).commit(again);
      if (tiers.made() <= position) break;
      await check(store, [[...commits, again]]);
      expect(await listed(cold)).toEqual([]);
    }
  });

  it.each(["before", "after"] as const)("wins or loses against another restart %s every call", async (when) => {
    for (let position = 0; ; position++) {
      const { hot, cold, over, commits, again, store } = await failedInCold();
      const rival = reopening(commits.at(-1)!);
      const outcomes: string[] = [];
      const tell = (one: Promise<void>): Promise<void> =>
        one.then(
          () => void outcomes.push("made"),
          (error) => void outcomes.push(error.code),
        );
      const tiers = interrupted({ hot, cold }, position, when, () => tell(over({ hot, cold }).commit(rival)));
      await tell(over(tiers).commit(again));
      if (tiers.made() <= position) break;
      expect(outcomes.sort()).toEqual(["VERSION_CONFLICT", "made"]);
      const winner = (await store.events("a", commits.at(-1)!.head.version, 1))[0]!.commitId === again.commitId ? again : rival;
      await check(store, [[...commits, winner]]);
    }
  });

  it("keeps the gap of trimmed events, there and back", async () => {
    const commits: Commit[] = [startCommit("a")];
    commits.push(stepCommit(commits[0]!, { outputs: ["one", "two"] }));
    commits.push(nextRun(commits, { at: 10, outputs: ["three"], input: "second" }));
    commits.push(stepCommit(commits.at(-1)!, { output: "later" }));
    commits.push(stepCommit(commits.at(-1)!, { status: "failed" }));
    const { store, hot, cold, pass } = setUp();
    await write(store, commits);
    await store.trim({ before: 100 });
    const trimmed = [await store.load("a"), await store.events("a", -1, 100)];
    pass(hour);
    expect(await store.move()).toEqual({ moved: 1, left: [] });
    expect(await hot.load("a")).toBe(null);
    expect([await store.load("a"), await store.events("a", -1, 100)]).toEqual(trimmed);
    const again = reopening(commits.at(-1)!);
    await store.commit(again);
    expect(await cold.load("a")).toBe(null);
    expect(await store.load("a")).toEqual(snapshotAfter(...commits, again));
    expect((await store.events("a", -1, 100)).map(({ version }) => version)).toEqual([0, 4, 5, 6, 7]);
  });
});
