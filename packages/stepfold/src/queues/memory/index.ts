export type { QueueClock } from "./broker.ts";
export { type MemoryQueueOptions, memoryQueue } from "./memory-queue.ts";
