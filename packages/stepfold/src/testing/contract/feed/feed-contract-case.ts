import type { EventFeed } from "../../../ports/event-feed.ts";

/** What a case of the contract of feeds works with: for every case a new feed on its own channel. */
export interface FeedBench {
  readonly feed: EventFeed;
  /** Opens another handle on the same channel, as in another process. */
  open(): Promise<EventFeed>;
  /** Opens a feed on another channel of the same server. */
  openElsewhere(): Promise<EventFeed>;
  /** Puts a text into the channel, as a program that is no feed might do. */
  inject(text: string): Promise<void>;
  /** How long a notice may take, in milliseconds. For a notice that must not come, a case waits this long, but at most 100 ms. */
  readonly patienceMs: number;
}

/** One promise of an `EventFeed`. Plain data: any test runner, or none, can run it. */
export interface FeedContractCase {
  readonly name: string;
  /** Rejects if the promise is broken: with a ContractViolation, or with what the feed threw. */
  run(bench: FeedBench): Promise<void>;
}
