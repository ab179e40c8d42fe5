import type { TransactionQuery } from "../ports/transaction-query.ts";
import type { WorkQueue } from "../ports/work-queue.ts";

/** What a case of the contract of queues works with: a new, empty queue for every case. */
export interface QueueBench {
  readonly queue: WorkQueue;
  /** Opens another handle on the same messages, as in another process. */
  open(): Promise<WorkQueue>;
  /** Moves the queue's clock forward. With a real clock it waits. */
  advance(durationMs: number): Promise<void>;
  /** A lease that the queue supports, in milliseconds. With a shorter lease the cases wait less. */
  readonly leaseMs: number;
  /** How long the delivery of a message may take, in milliseconds, from when it is due or its handler failed. */
  readonly patienceMs: number;
  /** How long it may take, in milliseconds, until a message goes to another consumer after the last sign of life of its first consumer. */
  readonly noticeMs: number;
  /** Ends a handle as the death of its process would: the handle acknowledges and releases nothing. */
  kill(queue: WorkQueue): Promise<void>;
  /** Runs `work` in a transaction of the queue's database, and commits it, or rolls it back if `work` rejects. */
  transact?(work: (query: TransactionQuery) => Promise<void>): Promise<void>;
}

/** What a case needs besides a queue and a clock. */
export type QueueNeed = "durable" | "delays" | "maxDelayMs" | "joins";

/** One promise of a `WorkQueue`. It is plain data: any test runner, or none, can run it. */
export interface QueueContractCase {
  readonly name: string;
  /** The case is only for queues with this feature. Report it for others as not claimed, never as passed. */
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
