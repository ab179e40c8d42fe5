import { type FeedHub, feedOn } from "../../src/feeds/memory/memory-feed.ts";
import type { FeedBench } from "../../src/testing/index.ts";

/** A bench of memory feeds that share one channel. */
export function memoryFeedBench(): FeedBench {
  const hub: FeedHub = new Set();
  return {
    feed: feedOn(hub),
    open: async () => feedOn(hub),
    openElsewhere: async () => feedOn(new Set()),
    async inject(text) {
      for (const hear of hub) hear(text);
    },
    patienceMs: 1_000,
  };
}
