export { type MemoryQueueOptions, memoryQueue } from "./memory-queue.ts";
export type { QueueClock } from "./message-hall.ts";
