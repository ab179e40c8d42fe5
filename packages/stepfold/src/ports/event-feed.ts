/**
 * What a notice is about.
 *
 * - `due`: an execution has become due for other processes, or one that another process may hold was changed.
 * - `waiting`: a wait was opened.
 * - `ended`: an execution has ended, or is parked.
 * - `test`: no execution. A process sends it to find out whether it receives what it publishes.
 */
export type NoticeKind = "due" | "waiting" | "ended" | "test";

/** A hint: something has happened to an execution. */
export interface Notice {
  readonly kind: NoticeKind;
  /** Of a test: what it is known by. */
  readonly workflowId: string;
  /** The execution's version after that. */
  readonly version: number;
}

/** How notices are listened for. */
export interface ListenOptions {
  /** Called at most once, when no more notices come because the connection is lost; not after `close`. */
  readonly onEnd: (error: unknown) => void;
}

/** Somebody who listens. */
export interface FeedSubscription {
  /** Hears nothing more, from this call on. Safe to call twice. */
  close(): Promise<void>;
}

/** What a feed can do, as data. */
export interface FeedFeatures {
  /** It goes from process to process. */
  readonly multiProcess: boolean;
}

/**
 * Tells all processes on a store what has just happened, so that they need not wait for their next poll. The store is the truth and the
 * feed only a hint: a notice that is lost, late, doubled or about nothing costs time, never work. Every adapter passes the contract
 * in `stepfold/testing`.
 *
 * Any method may reject with `FEED_UNAVAILABLE`.
 */
export interface EventFeed {
  readonly name: string;
  readonly features: FeedFeatures;
  /** Sends notices to all that listen now, in all processes, this one included. Resolves when they are on their way. */
  publish(notices: readonly Notice[]): Promise<void>;
  /** Calls `hear` with what is published from now on. Resolves when it hears. What `hear` throws is ignored. */
  listen(hear: (notices: readonly Notice[]) => void, options: ListenOptions): Promise<FeedSubscription>;
  /** Closes its listeners and frees what the feed opened itself. Safe to call twice; any other call afterwards is `FEED_UNAVAILABLE`. */
  close(): Promise<void>;
}
