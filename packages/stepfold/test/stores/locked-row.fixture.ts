import { expect } from "vitest";
import type { Commit, SnapshotStore } from "../../src/ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../src/testing/index.ts";

/**
 * AUDIT 5: somebody else holds the row of one execution. All others go on, in groups and alone, and that one goes on once it is free.
 *
 * @param lock locks the row of `locked`, and gives what frees it again
 */
export async function goOnBesideLock(store: SnapshotStore, lock: () => Promise<() => Promise<unknown>>): Promise<void> {
  const ids = Array.from({ length: 30 }, (_, index) => `id-${index}`);
  const starts = ["locked", ...ids].map((id) => startCommit(id));
  for (const start of starts) await store.create(start);
  const free = await lock();
  let isDone = false;
  const [first, ...others] = starts;
  const waits = store.commit(stepCommit(first!)).then(() => {
    isDone = true;
  });
  const seconds = others.map((start) => stepCommit(start));
  await Promise.all(seconds.map((second) => store.commit(second)));
  for (const second of seconds.slice(0, 5)) await store.commit(stepCommit(second));
  expect(isDone).toBe(false);
  await free();
  await waits;
  expect((await store.load("locked"))?.version).toBe(1);
  expect((await store.load("id-0"))?.version).toBe(2);
}

/**
 * The server gives up a write that waits for a lock before a runtime with short leases does. For a lease of 2.5 seconds it waits one
 * second; that it waits less than a lease leaves room for a busy machine, and without the limit it would be three seconds and more.
 *
 * @param lock locks the row of `locked`, and gives what frees it again
 */
export async function isGivenUpWithinLease(store: SnapshotStore, lock: () => Promise<() => Promise<unknown>>): Promise<void> {
  const leaseMs = 2_500;
  const first = startCommit("locked");
  await store.create(first);
  await store.claim({ owner: "worker", leaseMs, limit: 1, workflowId: "somebody else" });
  const free = await lock();
  const sentAt = performance.now();
  await expect(store.commit(stepCommit(first))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(performance.now() - sentAt).toBeLessThan(leaseMs);
  await free();
  await store.commit(stepCommit(first, { output: "another" }));
  expect((await store.events("locked", -1, 10)).length).toBe(2);
}

/**
 * AUDIT 13: a write that waited for a lock until it was refused is not made when the lock goes.
 *
 * @param lock locks the row of `locked`, and gives what frees it again
 */
export async function isNotMadeLater(store: SnapshotStore, lock: () => Promise<() => Promise<unknown>>): Promise<void> {
  const first = startCommit("locked");
  await store.create(first);
  const free = await lock();
  await expect(store.commit(stepCommit(first))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await free();
  // whatever the server still had to do for it comes before this
  await store.commit(stepCommit(first, { output: "another" }));
  expect((await store.events("locked", -1, 10)).length).toBe(2);
}

/** The start of an execution that shares a limit with the others of its key. */
function keyed(workflowId: string, key: string, limit: number): Commit {
  const commit = startCommit(workflowId);
  const permit = { key, limit };
  return { ...commit, head: { ...commit.head, permit }, events: commit.events.map((event) => ({ ...event, permit }) as typeof event) };
}

/**
 * Claims pass over a row that somebody else has locked: an execution with a permit, one whose holder was lost and whose permit is to be given away,
 * and one that has neither. Others are claimed meanwhile, of the same key too where it has room.
 *
 * @param lock locks the row of `locked`, and gives what frees it again
 */
export async function isPassedOverByClaims(store: SnapshotStore, lock: () => Promise<() => Promise<unknown>>): Promise<void> {
  const lease = { owner: "worker", leaseMs: 60_000, limit: 10 };
  const claimed = async (): Promise<string[]> => (await store.claim(lease)).map(({ workflowId }) => workflowId).toSorted();
  await store.create(keyed("locked", "roomy", 2));
  await store.create(keyed("beside", "roomy", 2));
  await store.create(keyed("of another key", "other", 1));
  await store.create(startCommit("of no key"));
  const free = await lock();
  const others = await claimed();
  await free();
  expect(others).toEqual(["beside", "of another key", "of no key"]);
  expect(await claimed()).toEqual(["locked"]);
}

/**
 * The same of one whose lease has ended: its permit cannot be given away while its row is locked.
 *
 * @param lock locks the row of `locked`, and gives what frees it again
 */
export async function isPassedOverOnceLost(store: SnapshotStore, lock: () => Promise<() => Promise<unknown>>): Promise<void> {
  const lease = { owner: "worker", leaseMs: 60_000, limit: 10 };
  const claimed = async (): Promise<string[]> => (await store.claim(lease)).map(({ workflowId }) => workflowId).toSorted();
  await store.create(keyed("locked", "narrow", 1));
  await store.claim({ ...lease, leaseMs: 100 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await store.create(keyed("behind it", "narrow", 1));
  await store.create(keyed("of another key", "other", 1));
  const free = await lock();
  const others = await claimed();
  await free();
  expect(others).toEqual(["of another key"]);
  expect(await claimed()).toHaveLength(1);
}
