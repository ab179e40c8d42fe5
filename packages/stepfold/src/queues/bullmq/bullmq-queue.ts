import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { aDelay, aFlag, checkOptions, requireMethods } from "../../core/values/check-arguments.ts";
import type { ConsumeOptions, Consumer, Delivery, WorkQueue } from "../../ports/work-queue.ts";
import { type CheckedWakeUp, checkedQueue } from "../checked/checked-queue.ts";
import { foreignMessage, workflowIdOf } from "../checked/wake-up-message.ts";
import type { BullmqJob, BullmqQueueClient, MakeBullmqWorker } from "./bullmq-client.ts";

/** How a BullMQ queue behaves. */
export interface BullmqQueueOptions {
  /**
   * The longest time that a message waits after its handler failed, in milliseconds. The real time is random, from half of it to all of it.
   * Default 5,000.
   */
  readonly retryDelayMs?: number | undefined;
  /**
   * True if your server keeps every message that it has acknowledged, as PostgreSQL and Redis with `appendonly yes` do. This only sets
   * `features.durable`. Default false.
   */
  readonly durable?: boolean | undefined;
}

/** The largest number of attempts, and of lost workers, that BullMQ can count, so that no job is given up. */
const unlimited = 2 ** 31 - 1;
/** One year. BullMQ orders jobs in Redis by a number that is exact until 2039. */
const maxDelayMs = 365 * 24 * 60 * 60 * 1000;
/** The most jobs in one call. */
const maxJobs = 1000;

/**
 * A queue in BullMQ, on Redis or PostgreSQL. You hand in a `Queue` for sending and a function that makes a `Worker`;
 * connections are yours. `close()` closes the workers that were made here, but not your queue.
 *
 * ```ts
 * import { Queue, Worker } from "bullmq";
 * import { bullmqQueue } from "stepfold/queues/bullmq";
 *
 * const connection = { url: "redis://127.0.0.1:6379", maxRetriesPerRequest: null };
 * const jobs = new Queue("stepfold", { connection });
 * const queue = bullmqQueue(jobs, (process, options) => new Worker(jobs.name, process, { connection, ...options }));
 * await queue.send([{ workflowId: "order-1", delayMs: 60_000 }]);
 * await queue.close();
 * await jobs.close();
 * ```
 *
 * Every wake-up is a job of its own with an id of BullMQ's. `dedupeKey` is not used: BullMQ would drop a job while one with
 * the same id exists, even if that one is being handled.
 *
 * @param worker has to pass `options` on: without them BullMQ drops jobs whose worker died twice
 * @throws StepfoldError `OPTION_INVALID`, `OPTION_UNKNOWN`
 */
export function bullmqQueue(queue: BullmqQueueClient, worker: MakeBullmqWorker, options: BullmqQueueOptions = {}): WorkQueue {
  requireMethods("queue", queue, "a Queue of bullmq", ["addBulk"]);
  if (typeof worker !== "function")
    throw new StepfoldError("OPTION_INVALID", { option: "worker", reason: "must be a function that makes a Worker of bullmq" });
  checkOptions("bullmqQueue", options, { retryDelayMs: aDelay, durable: aFlag });
  const { retryDelayMs = 5000, durable = false } = options;
  const opts = {
    attempts: unlimited,
    backoff: { type: "fixed", delay: retryDelayMs, jitter: 0.5 },
    removeOnComplete: true,
    stackTraceLimit: 1,
  } as const;
  return checkedQueue({
    name: "bullmq",
    features: { durable, multiProcess: true, maxDelayMs },
    async send(wakeUps: readonly CheckedWakeUp[]) {
      for (let from = 0; from < wakeUps.length; from += maxJobs) {
        const some = wakeUps.slice(from, from + maxJobs);
        await queue.addBulk(
          some.map(({ workflowId, delayMs }) => ({ name: "wake-up", data: { workflowId }, opts: { ...opts, delay: delayMs } })),
        );
      }
    },
    consume: (handle, consuming) => consumer(worker, handle, consuming),
  });
}

async function consumer(
  worker: MakeBullmqWorker,
  handle: (delivery: Delivery) => Promise<void>,
  { concurrency, leaseMs, onProblem }: ConsumeOptions,
): Promise<Consumer> {
  const process = async (job: BullmqJob): Promise<void> => {
    const workflowId = workflowIdOf(job.data);
    if (workflowId === null) return onProblem(foreignMessage("bullmq"));
    try {
      await handle(deliveryOf(job, workflowId, leaseMs));
    } catch (cause) {
      onProblem(cause);
      // not the error itself: BullMQ stores its text, and does not retry after errors with certain names
      throw new StepfoldError(
        "QUEUE_UNAVAILABLE",
        { queue: "bullmq", reason: "the handler failed; the message will be delivered again" },
        { cause },
      );
    }
  };
  const made = worker(process, { concurrency, lockDuration: leaseMs, stalledInterval: leaseMs, maxStalledCount: unlimited });
  made.on("error", onProblem);
  try {
    await made.waitUntilReady();
  } catch (cause) {
    await made.close();
    throw cause;
  }
  return { drain: () => made.close() };
}

function deliveryOf(job: BullmqJob, workflowId: string, leaseMs: number): Delivery {
  return {
    workflowId,
    async extend() {
      if (job.token !== undefined) await job.extendLock(job.token, leaseMs);
    },
  };
}
