import { takeParameters } from "../../urls/address.ts";
import { importDriver } from "../../urls/import-driver.ts";
import type { BullmqQueueClient, BullmqWorker, BullmqWorkerOptions } from "../bullmq/bullmq-client.ts";
import type { QueueAndClient } from "./queue-and-client.ts";

interface Around {
  readonly connection: { readonly url: string; readonly maxRetriesPerRequest: null };
  readonly prefix: string;
}

interface Client {
  readonly Queue: new (
    name: string,
    options: Around,
  ) => BullmqQueueClient & {
    on(event: "error", listener: () => void): unknown;
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  };
  readonly Worker: new (name: string, process: object, options: Around & BullmqWorkerOptions) => BullmqWorker;
}

/** Opens `bullmq:redis://host:6379/0?queue=stepfold&prefix=bull`, with the package `bullmq`. */
export async function openBullmq(text: string): Promise<QueueAndClient> {
  const { url, taken } = takeParameters(text.slice("bullmq:".length), { queue: "stepfold", prefix: "bull" });
  const { bullmqQueue } = await import("../bullmq/bullmq-queue.ts");
  const { Queue, Worker } = await importDriver<Client>("bullmq", { queue: "bullmq" });
  const around = { connection: { url, maxRetriesPerRequest: null }, prefix: taken.prefix };
  const jobs = new Queue(taken.queue, around);
  // without a listener BullMQ prints every error of a lost connection
  jobs.on("error", () => undefined);
  return {
    queue: bullmqQueue(jobs, (process, options) => new Worker(taken.queue, process, { ...around, ...options })),
    closeClient: () => jobs.close(),
  };
}
