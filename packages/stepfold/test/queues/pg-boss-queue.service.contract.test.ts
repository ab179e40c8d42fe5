import { PgBoss } from "pg-boss";
import { afterAll, describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { pgBossQueue } from "../../src/queues/pg-boss/index.ts";
import { wait } from "../testing/store-contract.fixture.ts";
import { bossServer, url } from "./pg-boss-bench.fixture.ts";

const server = bossServer(4);
afterAll(() => server.close());

const rejection = async (work: Promise<unknown>): Promise<string> => {
  const [settled] = await Promise.allSettled([work]);
  const { reason } = settled as PromiseRejectedResult;
  return StepfoldError.is(reason) ? reason.code : String(reason);
};
const consuming = { concurrency: 2, leaseMs: 45_000, onProblem: () => undefined };

describe.skipIf(url === null)("pg-boss", () => {
  it("creates its queue with settings that never give a message up, and keeps the lease of its consumers", async () => {
    const { boss } = await server.boss();
    const queue = pgBossQueue(boss, { name: "made" });
    await Promise.all([queue.send([{ workflowId: "a" }]), queue.send([{ workflowId: "b" }])]);
    expect(await boss.getQueue("made")).toMatchObject({
      policy: "short",
      retryLimit: 2 ** 31 - 1,
      heartbeatSeconds: 10,
      expireInSeconds: 86_400,
    });
    const consumer = await queue.consume(async () => undefined, consuming);
    expect(await boss.getQueue("made")).toMatchObject({ heartbeatSeconds: 45 });
    await consumer.drain();
    await queue.close();
  });

  it("takes an existing queue, unless its policy would drop messages", async () => {
    const { boss } = await server.boss();
    await boss.createQueue("plain");
    await boss.createQueue("narrow", { policy: "exclusive" });
    expect((await boss.getQueue("plain"))?.retryLimit).toBe(2);
    const plain = pgBossQueue(boss, { name: "plain" });
    await plain.send([{ workflowId: "a", dedupeKey: "key" }]);
    await plain.send([{ workflowId: "a", dedupeKey: "key" }]);
    const jobs = await boss.findJobs("plain");
    expect(jobs.map(({ retryLimit, expireInSeconds }) => [retryLimit, expireInSeconds])).toEqual([
      [2 ** 31 - 1, 86_400],
      [2 ** 31 - 1, 86_400],
    ]);
    expect(await rejection(pgBossQueue(boss, { name: "narrow" }).send([{ workflowId: "a" }]))).toBe("QUEUE_REJECTED");
  });

  it("keeps one of several messages with one key, and no row of a handled message", async () => {
    const { boss } = await server.boss();
    const queue = pgBossQueue(boss, { name: "traces", pollMs: 100 });
    for (let round = 0; round < 5; round++) await queue.send([{ workflowId: "a", dedupeKey: "key" }]);
    await queue.send([{ workflowId: "b", dedupeKey: "x".repeat(10_000) }]);
    const jobs = await boss.findJobs("traces");
    expect(jobs.map(({ data }) => (data as { workflowId: string }).workflowId).toSorted()).toEqual(["a", "b"]);
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), consuming);
    await expect.poll(() => ids.toSorted(), { timeout: 20_000 }).toEqual(["a", "b"]);
    await queue.close();
    expect(await boss.findJobs("traces")).toEqual([]);
  });

  it("drops jobs that are no messages of Stepfold, and reports them", async () => {
    const { boss } = await server.boss();
    const queue = pgBossQueue(boss, { name: "foreign", pollMs: 100 });
    const problems: unknown[] = [];
    const ids: string[] = [];
    await queue.send([{ workflowId: "a" }]);
    const foreign = [{ workflowId: 7 }, {}, null];
    for (const [index, data] of foreign.entries()) await boss.send("foreign", data as object, { singletonKey: `${index}` });
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), {
      ...consuming,
      onProblem: (problem) => problems.push(problem),
    });
    await expect.poll(() => [ids, problems.length], { timeout: 20_000 }).toEqual([["a"], foreign.length]);
    expect(problems).toEqual(foreign.map(() => expect.objectContaining({ code: "QUEUE_REJECTED" })));
    await queue.close();
    expect(await boss.findJobs("foreign")).toEqual([]);
  });

  it("fetches at once what its own process has sent", async () => {
    const { boss } = await server.boss();
    const queue = pgBossQueue(boss, { name: "quick", pollMs: 60_000 });
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), consuming);
    await wait(100);
    await queue.send([{ workflowId: "a" }]);
    await expect.poll(() => ids, { timeout: 20_000 }).toEqual(["a"]);
    await queue.close();
  });

  it("is refused if pg-boss was stopped, and reports it to its consumers", async () => {
    await server.boss();
    const boss = new PgBoss({ connectionString: url!, schema: server.schema, schedule: false, max: 2 });
    boss.on("error", () => undefined);
    await boss.start();
    const queue = pgBossQueue(boss, { name: "stopped", pollMs: 50 });
    const problems: unknown[] = [];
    const consumer = await queue.consume(async () => undefined, { ...consuming, onProblem: (problem) => problems.push(problem) });
    // the queries of pg-boss get their connections first, because a query that waits for one while the pool ends is never answered
    await wait(200);
    await boss.stop({ graceful: false });
    expect(await rejection(queue.send([{ workflowId: "a" }]))).toBe("QUEUE_REJECTED");
    await expect.poll(() => problems.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await consumer.drain();
  });

  it("goes on after its connections were cut", async () => {
    await server.boss();
    const name = `cut ${server.schema}`;
    const boss = new PgBoss({ connectionString: url!, schema: server.schema, schedule: false, max: 2, application_name: name });
    boss.on("error", () => undefined);
    await boss.start();
    const queue = pgBossQueue(boss, { name: "cut", pollMs: 50 });
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), consuming);
    for (let round = 0; round < 3; round++) {
      await server.pool.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [name]);
      await expect.poll(() => Promise.allSettled([queue.send([{ workflowId: `a-${round}` }])])).toMatchObject([{ status: "fulfilled" }]);
      await expect.poll(() => ids, { timeout: 20_000 }).toContain(`a-${round}`);
    }
    await queue.close();
    await boss.stop({ graceful: false });
  });

  it("keeps a message that takes long although extend is not called", async () => {
    const { boss } = await server.boss();
    const queue = pgBossQueue(boss, { name: "long", pollMs: 200 });
    const ids: string[] = [];
    const handle = async ({ workflowId }: { workflowId: string }): Promise<void> => {
      ids.push(workflowId);
      await wait(16_000);
    };
    await queue.consume(handle, { ...consuming, leaseMs: 1_000 });
    await queue.send([{ workflowId: "a" }]);
    await expect.poll(() => ids, { timeout: 20_000 }).toEqual(["a"]);
    await queue.close();
    expect(ids).toEqual(["a"]);
    expect(await boss.findJobs("long")).toEqual([]);
  });
});
