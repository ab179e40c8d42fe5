import type { TransactionQuery } from "./transaction-query.ts";

/** A hint: this execution may have something to do. */
export interface WakeUp {
  readonly workflowId: string;
  /** It comes no earlier than so many milliseconds from now; 0 and less: at once. Default 0. */
  readonly delayMs?: number;
  /**
   * Two wake-ups with one key and without a delay may become one message, as long as it has not been given to anybody: what
   * was sent while a message is being handled comes after it. With a delay, or without a key, each is a message of its own.
   * Use one key for one execution only; it never carries data of it.
   */
  readonly dedupeKey?: string;
}

/** A message that was given to a consumer. */
export interface Delivery {
  readonly workflowId: string;
  /**
   * Keeps the message with this consumer for as long again as it was given out for. Whoever works longer than half of that
   * calls it meanwhile: not every queue does so by itself. Rejects, or does nothing, if the message is no longer here.
   */
  extend(): Promise<void>;
}

/** How a consumer works. */
export interface ConsumeOptions {
  /** Messages under way at once. A whole number, at least 1. */
  readonly concurrency: number;
  /**
   * How long a message stays with a consumer that shows no sign of life, in milliseconds; then another one gets it. A queue
   * that knows only longer times takes the next one that it knows, and may need as long again to notice.
   */
  readonly leaseMs: number;
  /** Told of what goes wrong in the background: the queue does not answer, a handler failed. */
  readonly onProblem: (error: unknown) => void;
}

/** A consumer of messages. */
export interface Consumer {
  /** Takes no more messages; resolves when those under way are acknowledged or given back. Safe to call twice. */
  drain(): Promise<void>;
}

/** What a queue can do, as data. */
export interface QueueFeatures {
  /** A message that `send` has acknowledged survives the end of all processes. */
  readonly durable: boolean;
  /** Several processes may share it. */
  readonly multiProcess: boolean;
  /** The longest delay; a longer one is shortened to it. The message comes early then: whoever gets it sends it again. Absent: none. */
  readonly maxDelayMs?: number;
  /** `sendIn` is there, for transactions of stores that say the same in `features.transactions`. */
  readonly joins?: "postgres";
}

/**
 * Tells workers that there is something to do. The store is the truth and the queue only a hint: a message that is lost,
 * late, doubled or out of order costs time, never work. So a queue need promise little, and any will do.
 *
 * A message is delivered at least once: it is acknowledged when the handler has resolved, and delivered again, to anybody,
 * when the handler has rejected, or when its lease ended. That has no end: none is dropped because it failed too often.
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
   * Sends within a transaction of the store: nobody gets a message before the transaction is committed, or if it is not.
   * For `Commit.alongside`. Here no wake-up becomes one with another, which could be delivered before the commit.
   *
   * @throws StepfoldError as `send`; the transaction is then of no use any more
   */
  sendIn?(query: TransactionQuery, wakeUps: readonly WakeUp[]): Promise<void>;
  /**
   * Gives messages to `handle`, those first that are due the longest, as far as the queue has an order. Resolves when it is ready.
   *
   * @throws StepfoldError `OPTION_INVALID` for a concurrency or lease that is no whole number from 1 on
   */
  consume(handle: (delivery: Delivery) => Promise<void>, options: ConsumeOptions): Promise<Consumer>;
  /** Drains its consumers and frees what the queue opened itself. Safe to call twice; any other call afterwards is `QUEUE_UNAVAILABLE`. */
  close(): Promise<void>;
}
