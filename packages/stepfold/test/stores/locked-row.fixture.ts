import { expect } from "vitest";
import type { SnapshotStore } from "../../src/ports/snapshot-store.ts";
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
