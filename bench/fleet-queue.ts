import { Queue, Worker } from "bullmq";
import { bullmqQueue } from "stepfold/queues/bullmq";
import type { WorkQueue } from "stepfold/runtime";

/** A BullMQ queue with connections of its own, which `close` ends. */
export async function benchQueue({ redis, name }: { readonly redis: string; readonly name: string }): Promise<WorkQueue> {
  const connection = { url: redis, maxRetriesPerRequest: null };
  const jobs = new Queue(name, { connection });
  await jobs.waitUntilReady();
  const queue = bullmqQueue(jobs, (process, options) => new Worker(name, process, { connection, ...options }));
  const close = async (): Promise<void> => {
    await queue.close();
    await jobs.close();
  };
  return { ...queue, close };
}

/** Deletes a queue and all jobs that are left in it. */
export async function dropQueue({ redis, name }: { readonly redis: string; readonly name: string }): Promise<void> {
  const jobs = new Queue(name, { connection: { url: redis, maxRetriesPerRequest: null } });
  await jobs.obliterate({ force: true });
  await jobs.close();
}
