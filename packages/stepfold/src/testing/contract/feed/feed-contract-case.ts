import type { EventFeed } from "../../../ports/event-feed.ts";

/** What a case of the feeds' contract works with: a new feed for every case, on a channel of its own. */
export interface FeedBench {
  readonly feed: EventFeed;
  /** Another handle on the same channel, as another process has it. */
  open(): Promise<EventFeed>;
  /** A feed on another channel of the same server. */
  openElsewhere(): Promise<EventFeed>;
  /** Puts a text into the channel, as somebody may who is no feed. */
  inject(text: string): Promise<void>;
  /** How long a notice may take, in milliseconds. Cases wait so long only for what must not come, or does not come. */
  readonly patienceMs: number;
}

/** One promise of an `EventFeed`. Plain data: any test runner, or none, can run it. */
export interface FeedContractCase {
  readonly name: string;
  /** Rejects if the promise is broken: with a ContractViolation, or with what the feed threw. */
  run(bench: FeedBench): Promise<void>;
}
