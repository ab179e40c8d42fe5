import { type FeedHub, feedOn } from "../../src/feeds/memory/memory-feed.ts";
import type { FeedBench } from "../../src/testing/index.ts";

/** Feeds in memory, on a channel of their own. */
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
