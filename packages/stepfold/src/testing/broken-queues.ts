import type { BrokenQueue } from "./broken/queue/broken-queue.ts";
import { brokenQueueConsumers } from "./broken/queue/broken-queue-consumers.ts";
import { brokenQueueDedupe } from "./broken/queue/broken-queue-dedupe.ts";
import { brokenQueueSends } from "./broken/queue/broken-queue-sends.ts";

/**
 * Plausible wrong queues, each a wrapper around a right one: they show that the contract would notice. `breaks()` gives what
 * makes the handles of one queue wrong.
 *
 * ```ts
 * import { memoryQueue } from "stepfold/queues/memory";
 * import { brokenQueues } from "stepfold/testing";
 *
 * for (const { name, breaks, caughtBy } of brokenQueues) console.log(name, breaks()(memoryQueue()).name, caughtBy);
 * ```
 */
export const brokenQueues: readonly BrokenQueue[] = [...brokenQueueSends, ...brokenQueueDedupe, ...brokenQueueConsumers];
