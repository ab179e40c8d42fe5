import type { RunNumbers } from "../core/snapshot/parts/lineage.ts";

/**
 * The kind of a notice.
 *
 * - `due`: an execution has become due for other processes, or an execution that another process may hold was changed.
 * - `waiting`: a wait was opened, or refused an answer.
 * - `ended`: an execution has ended, or is parked.
 * - `test`: no execution. A process sends it to find out whether it receives what it publishes.
 */
export type NoticeKind = "due" | "waiting" | "ended" | "test";

/**
 * A hint: something has happened to an execution. In a notice of the kind `ended` or `waiting`, `run` and `restarts` are those of the
 * execution then.
 */
export interface Notice extends RunNumbers {
  readonly kind: NoticeKind;
  /** In a `test` notice: an id by which the sender recognizes its own notice. */
  readonly workflowId: string;
  /** The version of the execution after the change. 0 in a `test` notice. */
  readonly version: number;
}

/** Options of `listen`. */
export interface ListenOptions {
  /** Called at most once, when the connection is lost, so that no more notices come. Not called after `close`. */
  readonly onEnd: (error: unknown) => void;
}

/** A listener that was added with `listen`. */
export interface FeedSubscription {
  /** Ends the subscription: the listener gets no notice after this call. Safe to call twice. */
  close(): Promise<void>;
}

/** The capabilities of a feed, as data. */
export interface FeedFeatures {
  /** Notices also reach other processes. */
  readonly multiProcess: boolean;
}

/**
 * Tells all processes on a store what has just happened, so that they need not wait for their next poll. Notices are only hints; the
 * store holds the true state: a notice that is lost, late, doubled or about nothing costs time, but no work is lost. Every adapter passes
 * the contract in `stepfold/testing`.
 *
 * Any method may reject with `FEED_UNAVAILABLE`.
 */
export interface EventFeed {
  readonly name: string;
  readonly features: FeedFeatures;
  /** Sends notices to all present listeners in all processes, including this one. Resolves when the notices are sent. */
  publish(notices: readonly Notice[]): Promise<void>;
  /** Calls `hear` with all notices that are published from now on. Resolves when the listener is ready. Errors of `hear` are ignored. */
  listen(hear: (notices: readonly Notice[]) => void, options: ListenOptions): Promise<FeedSubscription>;
  /** Ends its subscriptions and closes what the feed opened itself. Safe to call twice; any other call afterwards is `FEED_UNAVAILABLE`. */
  close(): Promise<void>;
}
