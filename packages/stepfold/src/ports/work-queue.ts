import type { TransactionQuery } from "./transaction-query.ts";

/** A hint: this execution may have something to do. */
export interface WakeUp {
  readonly workflowId: string;
  /** The message comes no earlier than this many milliseconds from now; 0 and less: at once. Default 0. */
  readonly delayMs?: number;
  /**
   * Two wake-ups with the same key and without a delay may become one message, as long as it has not been given to a
   * consumer: a wake-up that is sent while a message is being handled comes after it. With a delay, or without a key, each
   * is a message of its own. Use a key for one execution only; it never contains data of it.
   */
  readonly dedupeKey?: string;
}

/** A message that was given to a consumer. */
export interface Delivery {
  readonly workflowId: string;
  /**
   * Prolongs the lease of the message by its full length. A handler that takes longer than half of the lease has to call
   * it: not every queue does so by itself. Rejects, or does nothing, if this consumer no longer holds the message.
   */
  extend(): Promise<void>;
}

/** How a consumer works. */
export interface ConsumeOptions {
  /** Messages handled at once. A whole number, at least 1. */
  readonly concurrency: number;
  /**
   * How long a message stays with a consumer that shows no sign of life, in milliseconds; then another consumer gets it. A
   * queue whose shortest lease is longer uses that one, and may need as long again to notice.
   */
  readonly leaseMs: number;
  /** Called with errors of background work: the queue does not answer, a handler failed. */
  readonly onProblem: (error: unknown) => void;
}

/** Takes messages from a queue. */
export interface Consumer {
  /** Takes no more messages; resolves when those in flight are acknowledged or given back. Safe to call twice. */
  drain(): Promise<void>;
}

/** What a queue can do, as data. */
export interface QueueFeatures {
  /** A message that `send` has acknowledged survives the end of all processes. */
  readonly durable: boolean;
  /** Several processes may share it. */
  readonly multiProcess: boolean;
  /** The longest delay; a longer one is shortened to it, and the message comes early. 0: nothing is delayed. Absent: no limit. */
  readonly maxDelayMs?: number;
  /** Set if there is `sendIn`, for transactions of stores whose `features.transactions` has the same value. */
  readonly joins?: "postgres";
}

/**
 * Tells workers that an execution is due. The store is the truth and the queue only a hint: a message that is lost, late,
 * doubled or out of order costs time, never work. So almost any queue will do.
 *
 * A message is delivered at least once: it is acknowledged when the handler has resolved, and delivered again, to any
 * consumer, when the handler has rejected or its lease has ended. No message is dropped because it failed too often.
 * Every adapter passes the contract in `stepfold/testing`.
 *
 * Any method may reject with `QUEUE_UNAVAILABLE` (try again) or `QUEUE_REJECTED`.
 */
export interface WorkQueue {
  readonly name: string;
  readonly features: QueueFeatures;
  /**
   * Resolves when the queue has all of them. If it rejects, some may have been sent.
   *
   * @throws StepfoldError `OPTION_INVALID` for a delay that is no number; nothing is sent
   */
  send(wakeUps: readonly WakeUp[]): Promise<void>;
  /**
   * Sends in a transaction of the store: no consumer gets a message before the transaction is committed, or if it is not.
   * For `Commit.alongside`. Here two wake-ups never become one message: that could be delivered before the commit.
   *
   * @throws StepfoldError as `send`; the transaction has then failed
   */
  sendIn?(query: TransactionQuery, wakeUps: readonly WakeUp[]): Promise<void>;
  /**
   * Gives messages to `handle`, the longest due first, as far as the queue has an order. Resolves when it is ready.
   *
   * @throws StepfoldError `OPTION_INVALID` for a concurrency or lease that is no whole number from 1 on
   */
  consume(handle: (delivery: Delivery) => Promise<void>, options: ConsumeOptions): Promise<Consumer>;
  /** Drains its consumers and frees what the queue opened itself. Safe to call twice; any other call afterwards is `QUEUE_UNAVAILABLE`. */
  close(): Promise<void>;
}
