import { systemEnvironment } from "../../engine/system-environment.ts";
import type { WorkQueue } from "../../ports/work-queue.ts";
import { checkedQueue } from "../checked/checked-queue.ts";
import { type MessageHall, messageHall, type QueueClock, type Seat } from "./broker.ts";

/** How a queue in memory behaves. */
export interface MemoryQueueOptions {
  /** Clock and timers. Default: those of the process. Tests hand in `virtualEnvironment()` of `stepfold/testing`. */
  readonly environment?: QueueClock;
  /** How long a message waits after its handler failed, in milliseconds. Default 1,000. */
  readonly retryDelayMs?: number;
}

/**
 * A queue in the memory of this process: for tests, and for a single process whose store may forget the messages, because a
 * sweep finds what they were about. Everything is lost when the process ends. Waiting messages do not keep a process alive.
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
 */
export function memoryQueue({ environment = systemEnvironment, retryDelayMs = 1000 }: MemoryQueueOptions = {}): WorkQueue {
  return handleOn(messageHall(environment, retryDelayMs)).queue;
}

/** One of several queues over the same messages; `vanish` is what the end of its process would be. */
export function handleOn(hall: MessageHall): { readonly queue: WorkQueue; vanish(): void } {
  const seats: Seat[] = [];
  const queue = checkedQueue({
    name: "memory",
    features: { durable: false, multiProcess: false },
    async send(wakeUps) {
      const now = hall.clock.monotonicMs();
      hall.put(
        wakeUps.map(({ workflowId, delayMs, dedupeKey }) => ({
          workflowId,
          dueAt: now + delayMs,
          ...(delayMs === 0 && dedupeKey !== undefined && { dedupeKey }),
        })),
      );
    },
    async consume(handle, options) {
      const seat = hall.enter(handle, options);
      seats.push(seat);
      return seat;
    },
  });
  return {
    queue,
    vanish() {
      for (const seat of seats) seat.vanish();
    },
  };
}
