import type { TransactionQuery } from "../ports/transaction-query.ts";
import type { WorkQueue } from "../ports/work-queue.ts";

/** What a case of the queues' contract works with: a new, empty queue for every case. */
export interface QueueBench {
  readonly queue: WorkQueue;
  /** Another handle on the same messages, as another process has it. */
  open(): Promise<WorkQueue>;
  /** Lets time pass by the queue's clock. With a real clock: waits. */
  advance(durationMs: number): Promise<void>;
  /** A lease that the queue can keep to, in milliseconds; the shorter, the less the cases wait. */
  readonly leaseMs: number;
  /** How long it may take, in milliseconds, until a message is delivered that is due, or whose handler failed. */
  readonly patienceMs: number;
  /** How long it may take, in milliseconds, until a message goes to another consumer after the last sign of life of its own. */
  readonly noticeMs: number;
  /** Ends a handle as the end of its process would: it acknowledges nothing and gives nothing back. */
  kill(queue: WorkQueue): Promise<void>;
  /** Runs `work` in a transaction of the database that the queue is in; commits, or undoes it if `work` rejects. */
  transact?(work: (query: TransactionQuery) => Promise<void>): Promise<void>;
}

/** What a case asks for beyond a queue and a clock. */
export type QueueNeed = "durable" | "delays" | "maxDelayMs" | "joins";

/** One promise of a `WorkQueue`. Plain data: any test runner, or none, can run it. */
export interface QueueContractCase {
  readonly name: string;
  /** Only for queues with this feature. For others report it as not claimed, never as passed. */
  readonly needs?: QueueNeed;
  /**
   * Rejects if the promise is broken: with a ContractViolation, or with what the queue threw. It may leave consumers behind
   * whose handlers never settle: end them with `kill`, not with `close()`.
   */
  run(bench: QueueBench): Promise<void>;
}

/** True if a queue has what a case needs. */
export function isQueueClaimed({ needs }: QueueContractCase, { queue }: QueueBench): boolean {
  if (needs === "delays") return queue.features.maxDelayMs !== 0;
  return needs === undefined || Boolean(queue.features[needs]);
}
