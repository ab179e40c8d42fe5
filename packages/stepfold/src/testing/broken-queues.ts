import type { BrokenQueue } from "./broken/queue/broken-queue.ts";
import { brokenQueueConsumers } from "./broken/queue/broken-queue-consumers.ts";
import { brokenQueueDedupe } from "./broken/queue/broken-queue-dedupe.ts";
import { brokenQueueSends } from "./broken/queue/broken-queue-sends.ts";

/**
 * Queues with plausible mistakes, each a wrapper around a correct one. They show that the contract finds such mistakes. `breaks()`
 * returns the function that puts the mistake into each handle of one queue.
 *
 * ```ts
 * import { memoryQueue } from "stepfold/queues/memory";
 * import { brokenQueues } from "stepfold/testing";
 *
 * for (const { name, breaks, caughtBy } of brokenQueues) console.log(name, breaks()(memoryQueue()).name, caughtBy);
 * ```
 */
export const brokenQueues: readonly BrokenQueue[] = [...brokenQueueSends, ...brokenQueueDedupe, ...brokenQueueConsumers];
