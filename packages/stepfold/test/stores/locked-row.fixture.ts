import { expect } from "vitest";
import type { Commit, SnapshotStore } from "../../src/ports/snapshot-store.ts";
import { startCommit, stepCommit } from "../../src/testing/index.ts";

/**
 * Expects that, while another session locks the row of one execution, commits of all other executions are made, in groups and alone. The
 * commit of the locked execution is made once its row is free.
 *
 * @param lock locks the row of the execution `locked`, and returns a function that frees the row
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
 * Expects that the server gives up a write that waits for a lock within a short lease. For a lease of 2.5 seconds the server waits one
 * second. The test allows the whole lease because the machine may be busy; without the limit the server would wait three seconds or more.
 *
 * @param lock locks the row of the execution `locked`, and returns a function that frees the row
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
 * Expects that a write that was refused because it waited too long for a lock is not made when the lock is gone.
 *
 * @param lock locks the row of the execution `locked`, and returns a function that frees the row
 */
export async function isNotMadeLater(store: SnapshotStore, lock: () => Promise<() => Promise<unknown>>): Promise<void> {
  const first = startCommit("locked");
  await store.create(first);
  const free = await lock();
  await expect(store.commit(stepCommit(first))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await free();
  // if the server still made the refused write, it would make it before this commit, and this commit would fail
  await store.commit(stepCommit(first, { output: "another" }));
  expect((await store.events("locked", -1, 10)).length).toBe(2);
}

/** The first commit of an execution that shares a concurrency limit with the others of its key. */
function keyed(workflowId: string, key: string, limit: number): Commit {
  const commit = startCommit(workflowId);
  const permit = { key, limit };
  return { ...commit, head: { ...commit.head, permit }, events: commit.events.map((event) => ({ ...event, permit }) as typeof event) };
}

/**
 * Expects that claims pass over an execution whose row another session has locked. Other executions are claimed meanwhile, also those of
 * the same key while the key has room.
 *
 * @param lock locks the row of the execution `locked`, and returns a function that frees the row
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
 * Expects the same for a locked execution whose lease has ended: its permit cannot be given to another execution while its row is locked.
 *
 * @param lock locks the row of the execution `locked`, and returns a function that frees the row
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
