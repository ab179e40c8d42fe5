import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, describe, it } from "vitest";
import { serviceUrl } from "../../../../scripts/servers/service-url.ts";
import { bullmqQueue } from "../../src/queues/bullmq/index.ts";
import { redisStore } from "../../src/stores/databases/redis/index.ts";
import { runOver } from "./runtime-over-queue.fixture.ts";

const url = await serviceUrl("redis");
const connection = { url: url ?? "", maxRetriesPerRequest: null };
const prefix = `stepfold-test-${process.pid}-runtime`;
const opened: Queue[] = [];
const redis = new Redis(url ?? "", { lazyConnect: true });
afterAll(async () => {
  if (url === null) return;
  await opened[0]?.obliterate({ force: true });
  for (const jobs of opened) await jobs.close();
  const keys = await redis.keys(`{${prefix}}:*`);
  if (keys.length > 0) await redis.del(...keys);
  await redis.quit();
});

describe.skipIf(url === null)("a runtime over BullMQ", () => {
  it("runs what other processes started, at once and later", () =>
    runOver(async () => {
      const jobs = new Queue("runtime", { connection, prefix });
      opened.push(jobs);
      const queue = bullmqQueue(jobs, (process, options) => new Worker(jobs.name, process, { connection, prefix, ...options }));
      return { queue, store: redisStore(redis, { prefix }) };
    }, 40));
});
