import { Queue, QueueEvents, Worker } from "bullmq";
import { afterAll, describe, expect, it } from "vitest";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import type { WorkQueue } from "../../src/ports/work-queue.ts";
import { bullmqQueue } from "../../src/queues/bullmq/index.ts";

const url = await serviceUrl("redis");
const connection = { url: url ?? "", maxRetriesPerRequest: null };
const prefix = "stepfold-test";
const opened: Queue[] = [];
afterAll(async () => {
  for (const jobs of opened) {
    await jobs.obliterate({ force: true });
    await jobs.close();
  }
});

function fresh(name: string): { readonly jobs: Queue; readonly queue: WorkQueue } {
  const jobs = new Queue(`stepfold-test-${process.pid}-${name}`, { connection, prefix });
  opened.push(jobs);
  const queue = bullmqQueue(jobs, (process, options) => new Worker(jobs.name, process, { connection, prefix, ...options }), {
    retryDelayMs: 100,
  });
  return { jobs, queue };
}

const consuming = { concurrency: 2, leaseMs: 5_000, onProblem: () => undefined };

describe.skipIf(url === null)("BullMQ", () => {
  it("keeps no job of a handled message", async () => {
    const { jobs, queue } = fresh("traces");
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), consuming);
    await queue.send([{ workflowId: "a" }, { workflowId: "b" }]);
    await expect.poll(() => ids.length, { timeout: 20_000 }).toBe(2);
    await queue.close();
    expect(await jobs.getJobCounts()).toMatchObject({ active: 0, completed: 0, delayed: 0, failed: 0, waiting: 0 });
  });

  it("drops jobs that are no messages of Stepfold, and reports them", async () => {
    const { jobs, queue } = fresh("foreign");
    const problems: unknown[] = [];
    const ids: string[] = [];
    await queue.consume(async ({ workflowId }) => void ids.push(workflowId), {
      ...consuming,
      onProblem: (problem) => problems.push(problem),
    });
    const foreign = [{ workflowId: 7 }, {}, null, "text"];
    for (const data of foreign) await jobs.add("other", data);
    await queue.send([{ workflowId: "a" }]);
    await expect.poll(() => ids, { timeout: 20_000 }).toEqual(["a"]);
    expect(problems).toEqual(foreign.map(() => expect.objectContaining({ code: "QUEUE_REJECTED" })));
    await queue.close();
    expect(await jobs.getJobCounts()).toMatchObject({ active: 0, delayed: 0, failed: 0, waiting: 0 });
  });

  it("stores nothing of an error of a handler, and no name of an error ends the message", async () => {
    const { jobs, queue } = fresh("failures");
    const names: string[] = ["UnrecoverableError", "DelayedError", "WaitingError", "WaitingChildrenError", "RateLimitError"];
    const problems: unknown[] = [];
    let calls = 0;
    const handle = async (): Promise<void> => {
      const name = names[calls++];
      if (name) throw Object.assign(new TypeError(name === "RateLimitError" ? "bullmq:rateLimitExceeded" : "secret"), { name });
    };
    const reasons: string[] = [];
    const events = new QueueEvents(jobs.name, { connection, prefix });
    events.on("failed", ({ failedReason }) => reasons.push(failedReason));
    await events.waitUntilReady();
    await queue.consume(handle, { ...consuming, onProblem: (problem) => problems.push(problem) });
    await queue.send([{ workflowId: "a" }]);
    await expect.poll(() => calls, { timeout: 10_000 }).toBe(names.length + 1);
    await queue.close();
    expect(problems.map((problem) => (problem as Error).name)).toEqual(names);
    expect(reasons.join()).not.toContain("secret");
    expect(await jobs.getFailedCount()).toBe(0);
    await events.close();
  });

  it("says what its option says about durability", () => {
    const { jobs } = fresh("features");
    const make = (): never => {
      throw new TypeError("nobody consumes here");
    };
    expect(bullmqQueue(jobs, make).features).toMatchObject({ durable: false, multiProcess: true });
    expect(bullmqQueue(jobs, make, { durable: true }).features.durable).toBe(true);
  });

  it("is unavailable if no server answers, and its error has no password", async () => {
    const away = { host: "127.0.0.1", port: 1, password: "hunter2", enableOfflineQueue: false, maxRetriesPerRequest: 0 };
    const jobs = new Queue("away", { connection: { ...away, retryStrategy: () => null }, skipWaitingForReady: true });
    jobs.on("error", () => undefined);
    const queue = bullmqQueue(jobs, () => {
      throw new TypeError("nobody consumes here");
    });
    const [settled] = await Promise.allSettled([queue.send([{ workflowId: "a" }])]);
    const { reason } = settled as PromiseRejectedResult;
    expect(StepfoldError.is(reason) && reason.code).toBe("QUEUE_UNAVAILABLE");
    expect(String(reason)).not.toContain("hunter2");
    await jobs.close().catch(() => undefined);
  });

  it("says why Redis refuses it", async () => {
    const { jobs, queue } = fresh("refused");
    await jobs.waitUntilReady();
    const client = await jobs.getBackend().client;
    await client.set(`${prefix}:${jobs.name}:wait`, "not a list");
    const [settled] = await Promise.allSettled([queue.send([{ workflowId: "a" }])]);
    // BullMQ has written a part of the job, which it would never delete itself
    await client.del(`${prefix}:${jobs.name}:wait`, `${prefix}:${jobs.name}:1`);
    expect((settled as PromiseRejectedResult).reason).toMatchObject({ code: "QUEUE_REJECTED" });
  });
});
