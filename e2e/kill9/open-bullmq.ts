import { createPostgresBackend, Queue, Worker } from "bullmq";
import { bullmqQueue, type MakeBullmqWorker } from "stepfold/queues/bullmq";
import { postgresPlace } from "./open-store.ts";
import type { OpenedQueue } from "./opened-queue.ts";

/** The name of the queue is always the same, because each run has a prefix or schema of its own. */
const name = "stepfold";

/** Opens the queue as docs/queues/bullmq.md says, on the server of the URL. */
export function openBullmq(url: URL): OpenedQueue {
  return url.protocol === "redis:" ? onRedis(url) : onPostgres(url);
}

/** Creates the tables in PostgreSQL. */
export async function migrateBullmq(url: URL): Promise<void> {
  const queue = new Queue(name, { connection: { ...placeOf(url), migrate: true } }, createPostgresBackend);
  await queue.waitUntilReady();
  await queue.close();
}

function onRedis(url: URL): OpenedQueue {
  const around = { connection: { url: `redis://${url.host}`, maxRetriesPerRequest: null }, prefix: url.searchParams.get("prefix")! };
  return opened(new Queue(name, around), (process, options) => new Worker(name, process, { ...around, ...options }), false);
}

function onPostgres(url: URL): OpenedQueue {
  const connection = placeOf(url);
  const make: MakeBullmqWorker = (process, options) => new Worker(name, process, { connection, ...options }, createPostgresBackend);
  return opened(new Queue(name, { connection }, createPostgresBackend), make, true);
}

/** Returns the connection options. Each process gets few connections, because there are many processes. */
function placeOf(url: URL) {
  return { ...postgresPlace(url), schema: url.searchParams.get("schema")!, max: 3 };
}

function opened(
  jobs: Parameters<typeof bullmqQueue>[0] & { close(): Promise<void>; on(event: "error", listener: () => void): unknown },
  make: MakeBullmqWorker,
  durable: boolean,
): OpenedQueue {
  // without a listener BullMQ prints errors of lost connections
  jobs.on("error", () => undefined);
  const queue = bullmqQueue(jobs, make, { durable });
  const close = async (): Promise<void> => {
    await queue.close();
    await jobs.close();
  };
  return { queue, close };
}
