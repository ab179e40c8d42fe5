import { aDelay, checkOptions, having } from "../../core/values/check-arguments.ts";
import { systemEnvironment } from "../../environment/system-environment.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { checkedQueue } from "../checked/checked-queue.ts";
import { type Broker, createBroker, type QueueClock, type Subscription } from "./broker.ts";

/** How a queue in memory behaves. */
export interface MemoryQueueOptions {
  /** Clock and timers. Default: those of the process. Tests hand in `virtualEnvironment()` of `stepfold/testing`. */
  readonly environment?: QueueClock | undefined;
  /** How long a message waits after its handler failed, in milliseconds. Default 1,000. */
  readonly retryDelayMs?: number | undefined;
}

/**
 * A queue in the memory of this process, for tests and for a single process. Its messages are lost when the process ends;
 * workers find the due executions in the store anyway. Waiting messages do not keep a process alive.
 *
 * ```ts
 * import { memoryQueue } from "stepfold/queues/memory";
 *
 * const queue = memoryQueue();
 * const consumer = await queue.consume(async ({ workflowId }) => console.log(workflowId), {
 *   concurrency: 10,
 *   leaseMs: 30_000,
 *   onProblem: console.error,
 * });
 * await queue.send([{ workflowId: "order-1" }, { workflowId: "order-2", delayMs: 60_000 }]);
 * await consumer.drain();
 * await queue.close();
 * ```
 *
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function memoryQueue(options: MemoryQueueOptions = {}): WorkQueue {
  checkOptions("memoryQueue", options, { environment: having("an environment", ["monotonicMs", "after"]), retryDelayMs: aDelay });
  const { environment = systemEnvironment, retryDelayMs = 1000 } = options;
  return queueOn(createBroker(environment, retryDelayMs)).queue;
}

/** Creates one of several queues on the same broker. `cut` ends its consumers at once, as if its process had died. */
export function queueOn(broker: Broker): { readonly queue: WorkQueue; cut(): void } {
  const subscriptions: Subscription[] = [];
  const queue = checkedQueue({
    name: "memory",
    features: { durable: false, multiProcess: false },
    async send(wakeUps) {
      const now = broker.clock.monotonicMs();
      broker.publish(
        wakeUps.map(({ workflowId, delayMs, dedupeKey }) => ({
          workflowId,
          dueAtMs: now + delayMs,
          ...(delayMs === 0 && dedupeKey !== undefined && { dedupeKey }),
        })),
      );
    },
    async consume(handle, options) {
      const subscription = broker.subscribe(handle, options);
      subscriptions.push(subscription);
      return subscription;
    },
  });
  return {
    queue,
    cut() {
      for (const subscription of subscriptions) subscription.cut();
    },
  };
}
