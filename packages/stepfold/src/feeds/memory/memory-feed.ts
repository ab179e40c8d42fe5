import type { EventFeed } from "../../ports/event-feed.ts";
import { checkedFeed } from "../checked/checked-feed.ts";

/** The listeners that several feeds of one process share. */
export type FeedHub = Set<(text: string) => void>;

/**
 * A feed in the memory of this process: for tests, and for several runtimes in one process.
 *
 * ```ts
 * import { memoryFeed } from "stepfold/feeds/memory";
 *
 * const feed = memoryFeed();
 * const listener = await feed.listen(([notice]) => console.log(notice), { onEnd: console.error });
 * await feed.publish([{ kind: "due", workflowId: "order-1", version: 3 }]);
 * await listener.close();
 * await feed.close();
 * ```
 */
export function memoryFeed(): EventFeed {
  return feedOn(new Set());
}

/** Makes a feed on a hub. Several feeds on one hub behave like the feeds of several processes. */
export function feedOn(hub: FeedHub): EventFeed {
  return checkedFeed({
    name: "memory",
    features: { multiProcess: false },
    async send(text) {
      for (const hear of hub) queueMicrotask(() => hear(text));
    },
    async listen(hear) {
      const listener = (text: string): void => hear(text);
      hub.add(listener);
      return { close: async () => void hub.delete(listener) };
    },
  });
}
