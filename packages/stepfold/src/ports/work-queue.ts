import type { TransactionQuery } from "./transaction-query.ts";

/** A hint: this execution may have something to do. */
export interface WakeUp {
  readonly workflowId: string;
  /** The message comes no earlier than this many milliseconds from now; 0 and less: at once. Default 0. */
  readonly delayMs?: number;
  /**
   * Two wake-ups with the same key and without a delay may become one message, as long as that message has not been given to a
   * consumer: a wake-up that is sent while a message is being handled is delivered after it. With a delay, or without a key, each
   * wake-up is a message of its own. Use a key for one execution only, and never put data of the execution into it.
   */
  readonly dedupeKey?: string;
}

/** A message that was given to a consumer. */
export interface Delivery {
  readonly workflowId: string;
  /**
   * Extends the lease of the message by its full length. A handler that takes longer than half of the lease has to call
   * this method, because not every queue extends leases by itself. Rejects, or does nothing, if this consumer no longer holds the message.
   */
  extend(): Promise<void>;
}

/** Options of `consume`. */
export interface ConsumeOptions {
  /** Messages handled at once. A whole number, at least 1. */
  readonly concurrency: number;
  /**
   * How long a message stays with a consumer that shows no sign of life, in milliseconds; then another consumer gets the message. A
   * queue whose shortest possible lease is longer uses its shortest lease, and may need the same time again to notice the end of it.
   */
  readonly leaseMs: number;
  /**
   * Called with errors of background work: what a handler rejected with, as it is, and `QUEUE_UNAVAILABLE` or `QUEUE_REJECTED` if the queue
   * does not answer or refuses something.
   */
  readonly onProblem: (error: unknown) => void;
}

/** Takes messages from a queue. */
export interface Consumer {
  /** Takes no more messages; resolves when the messages in flight are acknowledged or given back. Safe to call twice. */
  drain(): Promise<void>;
}

/** The capabilities of a queue, as data. */
export interface QueueFeatures {
  /** A message that `send` has acknowledged survives the end of all processes. */
  readonly durable: boolean;
  /** Several processes may share the queue. */
  readonly multiProcess: boolean;
  /** The longest delay in milliseconds; a longer delay is shortened, so the message comes early. 0: no delays. Absent: no limit. */
  readonly maxDelayMs?: number;
  /** Set if the queue has `sendIn`. It works in transactions of stores whose `features.transactions` has the same value. */
  readonly joins?: "postgres";
}

/**
 * Tells workers that an execution is due. The store decides what is due, and the queue gives only hints: a message that is lost, late,
 * doubled or out of order costs time, but no work is lost. So almost any queue can be used.
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
   * Resolves when the queue has all messages. If it rejects, some of them may have been sent.
   *
   * @throws StepfoldError `OPTION_INVALID` for a delay that is not a number; nothing is sent
   */
  send(wakeUps: readonly WakeUp[]): Promise<void>;
  /**
   * Sends in a transaction of the store: consumers get the messages only after the transaction is committed, and never if it fails.
   * For `Commit.alongside`. Here two wake-ups never become one message, because an older message could be delivered before the commit.
   *
   * @throws StepfoldError as `send`; the transaction has then failed
   */
  sendIn?(query: TransactionQuery, wakeUps: readonly WakeUp[]): Promise<void>;
  /**
   * Gives messages to `handle`, the longest due first, as far as the queue has an order. Resolves when the consumer is ready.
   *
   * @throws StepfoldError `OPTION_INVALID` if the concurrency or the lease is not a whole number of at least 1
   */
  consume(handle: (delivery: Delivery) => Promise<void>, options: ConsumeOptions): Promise<Consumer>;
  /** Drains its consumers and closes what the queue opened itself. Safe to call twice; any other call afterwards is `QUEUE_UNAVAILABLE`. */
  close(): Promise<void>;
}
