import { expect } from "vitest";
import type { Commit, SnapshotStore } from "../../../src/ports/snapshot-store.ts";
import { claimAndLoad } from "../../../src/testing/claim-and-load.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";

/** The commit that creates an execution with a permit. */
export function permitted(workflowId: string, key: string, limit = 1): Commit {
  const commit = startCommit(workflowId, { head: { permit: { key, limit } } });
  const [event] = commit.events;
  return { ...commit, events: [{ ...event!, permit: { key, limit } } as Commit["events"][number]] };
}

/** Expects that every other key gets one turn, and none gets two, although many executions of one key wait in front of them. */
export async function expectEachKeyItsTurn(store: SnapshotStore): Promise<void> {
  await Promise.all(Array.from({ length: 70 }, (_, index) => store.create(permitted(`blocked-${index}`, "blocked"))));
  const lease = { owner: "worker", leaseMs: 600_000 };
  expect(await store.claim({ ...lease, limit: 1 })).toHaveLength(1);
  const keys = Array.from({ length: 100 }, (_, index) => `key-${index}`);
  await Promise.all(keys.flatMap((key) => [0, 1].map((index) => store.create(permitted(`${key}-${index}`, key)))));
  const seen: string[] = [];
  for (let claims = 0; claims < 20; claims++) {
    const claimed = await claimAndLoad(store, { ...lease, limit: 7 });
    seen.push(...claimed.map(({ snapshot }) => snapshot.permit!.key));
  }
  expect(seen.sort()).toEqual([...keys].sort());
}

/** Expects that a holder that lost its place to another execution does not get it back by a renewal, and that the loss is counted. */
export async function expectNoReturn(store: SnapshotStore, advance: (durationMs: number) => Promise<void>): Promise<void> {
  const first = permitted("lost", "x");
  await store.create(first);
  await store.create(permitted("next", "x"));
  const ask = async (leaseMs: number, workflowId?: string) =>
    (await claimAndLoad(store, { owner: "worker", leaseMs, limit: 1, ...(workflowId !== undefined && { workflowId }) }))[0]!;
  const lost = await ask(20, "lost");
  await advance(50);
  const next = await ask(60_000, "next");
  await expect(store.renew(lost.claim)).rejects.toMatchObject({ code: "FENCE_LOST" });
  await expect(store.commit(stepCommit(first, { fence: lost.claim.fence }))).rejects.toMatchObject({ code: "FENCE_LOST" });
  await store.release(lost.claim, 0);
  await store.commit(stepCommit(next.snapshot, { fence: next.claim.fence, status: "completed" }));
  const again = await ask(60_000);
  expect(again.claim).toMatchObject({ workflowId: "lost", expired: 1 });
  expect(again.claim.fence).toBeGreaterThan(lost.claim.fence);
  await store.commit(stepCommit(first, { fence: again.claim.fence, status: "completed" }));
}

/** Claims and ends executions of many keys, and some without a key, at once. Expects that no key has more holders than its limit. */
export async function expectLimits(stores: readonly SnapshotStore[]): Promise<void> {
  const limit = 2;
  const keys = Array.from({ length: 4 }, (_, index) => `key-${index}`);
  const all = keys.flatMap((key) => Array.from({ length: 15 }, (_, index) => permitted(`${key}-${index}`, key, limit)));
  all.push(...Array.from({ length: 10 }, (_, index) => startCommit(`plain-${index}`)));
  await Promise.all(all.map((commit) => stores[0]!.create(commit)));
  const held = new Map<string, number>();
  const add = (key: string, change: number): void => {
    held.set(key, (held.get(key) ?? 0) + change);
    expect(held.get(key)).toBeLessThanOrEqual(limit);
  };
  const done = new Set<string>();
  const work = async (store: SnapshotStore, index: number): Promise<void> => {
    for (let round = index; done.size < all.length; round++) {
      const which = round % 3 === 0 ? { permit: keys[round % keys.length]! } : {};
      const claimed = await claimAndLoad(store, { owner: `worker-${index}`, leaseMs: 600_000, limit: 1 + (round % 5), ...which });
      for (const { snapshot } of claimed) if (snapshot.permit) add(snapshot.permit.key, 1);
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all(
        claimed.map(async ({ claim, snapshot }) => {
          if (snapshot.permit) add(snapshot.permit.key, -1);
          await store.commit(stepCommit(snapshot, { fence: claim.fence, status: "completed" }));
          expect(done.has(claim.workflowId)).toBe(false);
          done.add(claim.workflowId);
        }),
      );
    }
  };
  await Promise.all(stores.flatMap((store, handle) => [0, 1, 2].map((index) => work(store, handle * 3 + index))));
  expect(done.size).toBe(all.length);
}
