import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { Commit, SnapshotStore } from "../../src/ports/snapshot-store.ts";
import type { WorkQueue } from "../../src/ports/work-queue.ts";
import { pgBossQueue } from "../../src/queues/pg-boss/index.ts";
import { migratePostgres, postgresStore } from "../../src/stores/databases/postgres/index.ts";
import { compressedStore } from "../../src/stores/wrappers/compressed/index.ts";
import { startCommit, stepCommit } from "../../src/testing/index.ts";
import { newSchema, poolOf } from "../stores/postgres/postgres-bench.fixture.ts";
import { wait } from "../testing/store-contract.fixture.ts";
import { bossServer, url } from "./pg-boss-bench.fixture.ts";

const server = bossServer();
const pool = poolOf(6);
const schema = newSchema();
beforeAll(async () => {
  if (url !== null) await migratePostgres(pool, { schema });
});
afterAll(async () => {
  if (url !== null) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
  await server.close();
});

/** Consumes the queue and returns the list to which the id of each delivered execution is added, in order. */
async function listening(queue: WorkQueue): Promise<string[]> {
  const ids: string[] = [];
  const handle = async ({ workflowId }: { workflowId: string }): Promise<void> => {
    ids.push(workflowId);
  };
  await queue.consume(handle, { concurrency: 5, leaseMs: 10_000, onProblem: () => undefined });
  return ids;
}

describe.skipIf(url === null)("pg-boss and the PostgreSQL store in one database", () => {
  const withWakeUp = (queue: WorkQueue, commit: Commit): Commit => ({
    ...commit,
    alongside: (query) => queue.sendIn!(query, [{ workflowId: commit.workflowId, dedupeKey: commit.workflowId }]),
  });
  const opened = async (name: string): Promise<{ store: SnapshotStore; queue: WorkQueue; ids: string[] }> => {
    const { boss } = await server.boss();
    const queue = pgBossQueue(boss, { name, pollMs: 100, sharesStoreDatabase: true });
    const store = postgresStore(pool, { schema });
    expect(store.features.transactions).toBe(queue.features.joins);
    return { store, queue, ids: await listening(queue) };
  };

  it("sends a wake-up in the transaction of its commit", async () => {
    const { store, queue, ids } = await opened("with");
    const first = startCommit("with-1");
    await store.create(withWakeUp(queue, first));
    await expect.poll(() => ids).toEqual(["with-1"]);
    await store.commit(withWakeUp(queue, stepCommit(first)));
    await expect.poll(() => ids).toEqual(["with-1", "with-1"]);
    await queue.close();
  });

  it("sends nothing with a commit that is refused", async () => {
    const { store, queue, ids } = await opened("refused");
    const first = startCommit("refused-1");
    await store.create(first);
    await store.commit(stepCommit(first));
    await expect(store.commit(withWakeUp(queue, stepCommit(first)))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    await expect(store.create(withWakeUp(queue, startCommit("refused-1")))).rejects.toMatchObject({ code: "WORKFLOW_EXISTS" });
    await wait(500);
    expect(ids).toEqual([]);
    await queue.close();
  });

  it("commits nothing if the message cannot be sent, and names the queue in the error", async () => {
    const { store, queue } = await opened("broken");
    const first = startCommit("broken-1");
    await store.create(first);
    const cutting: Commit = {
      ...stepCommit(first),
      async alongside(query) {
        const { rows } = await query("SELECT pg_backend_pid() AS pid");
        await pool.query("SELECT pg_terminate_backend($1)", [(rows[0] as { pid: number }).pid]);
        await queue.sendIn!(query, [{ workflowId: "broken-1" }]);
      },
    };
    const [settled] = await Promise.allSettled([store.commit(cutting)]);
    const { reason } = settled as PromiseRejectedResult;
    expect(StepfoldError.is(reason) && [reason.code, reason.retryable]).toEqual(["QUEUE_UNAVAILABLE", true]);
    expect((await store.load("broken-1"))?.version).toBe(0);
    await queue.close();
  });

  it("does so through a wrapping store too", async () => {
    const { store: inner, queue, ids } = await opened("wrapped");
    const store = compressedStore(inner, { aboveBytes: 32 });
    expect(store.features.transactions).toBe("postgres");
    const first = startCommit("wrapped-1", { input: "x".repeat(1_000) });
    await store.create(withWakeUp(queue, first));
    await expect(store.commit(withWakeUp(queue, stepCommit(stepCommit(first))))).rejects.toMatchObject({ code: "VERSION_CONFLICT" });
    await store.commit(withWakeUp(queue, stepCommit(first)));
    await expect.poll(() => ids).toEqual(["wrapped-1", "wrapped-1"]);
    await queue.close();
  });

  it("sends a message for each of 50 commits that win, and none for the 150 that lose", async () => {
    const { store, queue, ids } = await opened("racing");
    const firsts = Array.from({ length: 50 }, (_, index) => startCommit(`racing-${index}`));
    await Promise.all(firsts.map((first) => store.create(first)));
    const settled = await Promise.allSettled(
      firsts.flatMap((first) => Array.from({ length: 4 }, () => store.commit(withWakeUp(queue, stepCommit(first))))),
    );
    expect(settled.filter(({ status }) => status === "fulfilled").length).toBe(50);
    const wanted = firsts.map(({ workflowId }) => workflowId).toSorted();
    await expect.poll(() => ids.toSorted(), { timeout: 10_000 }).toEqual(wanted);
    await wait(300);
    expect(ids.toSorted()).toEqual(wanted);
    await queue.close();
  });
});
