import { describe, expect, it } from "vitest";
import { StepfoldError } from "../../../src/core/errors/stepfold-error.ts";
import type { Claim } from "../../../src/ports/snapshot-store.ts";
import { memoryStore } from "../../../src/stores/databases/memory/index.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { snapshotAfter, stepCommit } from "../../../src/testing/index.ts";
import { atEveryCall, check, hour, interrupted, listed, setUp, waiting, write } from "./tiers.fixture.ts";

const lease = { owner: "w", leaseMs: 1000, limit: 10 };

describe("a move, at every call of which", () => {
  it("another process cancels and deletes it: it is gone", async () => {
    await atEveryCall(
      async ({ other, commits }) => {
        await other.commit(stepCommit(commits.at(-1)!, { status: "cancelled" }));
        await other.delete("a");
      },
      async ({ other, cold }) => {
        expect([await other.load("a"), await listed(other), await other.claim(lease)]).toEqual([null, [], []]);
        await other.move();
        expect(await cold.load("a")).toBeNull();
      },
    );
  });

  it("another process prunes: it is still there", async () => {
    await atEveryCall(
      async ({ other }) => void (await other.prune({ before: Number.MAX_SAFE_INTEGER })),
      async ({ other, commits }) => check(other, [commits]),
    );
  });

  it("another one moves: it is moved once", async () => {
    await atEveryCall(
      async ({ other }) => void (await other.move()),
      async ({ other, hot, commits }) => {
        expect(await listed(hot)).toEqual([]);
        await check(other, [commits]);
      },
    );
  });

  it("another process reads: it is there, and once", async () => {
    await atEveryCall(
      async ({ other, commits }) => check(other, [commits]),
      async ({ other, commits }) => check(other, [commits]),
    );
  });

  it("its time comes: one drives it, and what is lost is the claim, never the execution", async () => {
    await atEveryCall(
      async (around) => {
        around.pass(8 * hour);
        const { other, commits } = around;
        const [claimed] = await claimAndLoad(other, lease);
        expect(claimed?.snapshot).toEqual(snapshotAfter(...commits));
        expect(await other.claim(lease)).toEqual([]);
        Object.assign(around, { claim: claimed?.claim });
      },
      async (around) => {
        const { other, commits } = around;
        const { claim } = around as unknown as { claim: Claim };
        const fired = stepCommit(commits.at(-1)!, { fence: claim.fence });
        const isLost = await other.commit(fired).then(
          () => false,
          (error: unknown) => StepfoldError.is(error, "FENCE_LOST"),
        );
        if (isLost) {
          await expect(other.renew(claim)).rejects.toMatchObject({ code: "FENCE_LOST" });
          await other.release(claim, 3);
          expect(await other.claim(lease)).toHaveLength(1);
        } else expect((await other.load("a"))!.version).toBe(4);
      },
    );
  });
});

describe("a claim of a copy that does not count yet, at every call of which", () => {
  it("the move goes on: it is claimed once, and at once", async () => {
    for (const when of ["before", "after"] as const) {
      for (let position = 0; ; position++) {
        const { over, hot, pass, now } = setUp();
        // the clock of the cold store is ahead
        const cold = memoryStore({ now: () => now() + 9 * hour });
        const store = over({ hot, cold });
        await write(store, waiting("a", 9 * hour));
        pass(hour);
        const dying = { ...hot, commit: () => Promise.reject(new TypeError("crash")) };
        await expect(over({ hot: dying, cold }).move()).rejects.toThrow();
        const tiers = interrupted({ hot, cold }, position, when, async () => void (await store.move()));
        const claimed = await over(tiers).claim(lease);
        if (tiers.made() <= position) break;
        expect(await listed(hot)).toEqual([]);
        expect([...claimed, ...(await store.claim(lease))]).toMatchObject([{ workflowId: "a", version: 3 }]);
        expect((await store.load("a"))?.version).toBe(3);
        expect(await store.claim(lease)).toEqual([]);
      }
    }
  });
});
