export type {
  BullmqJob,
  BullmqJobOptions,
  BullmqQueueClient,
  BullmqWorker,
  BullmqWorkerOptions,
  MakeBullmqWorker,
} from "./bullmq-client.ts";
export { type BullmqQueueOptions, bullmqQueue } from "./bullmq-queue.ts";
