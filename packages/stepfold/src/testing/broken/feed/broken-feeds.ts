import type { EventFeed, FeedSubscription, Notice } from "../../../ports/event-feed.ts";

/** A plausible mistake in a feed, which the contract must find. */
export interface BrokenFeed {
  readonly name: string;
  /** Name of a contract case that fails on it. */
  readonly caughtBy: string;
  /** Wraps a correct feed into one with the mistake. `elsewhere` is a correct feed on another channel. */
  breaks(feed: EventFeed, elsewhere: EventFeed): EventFeed;
}

type Hear = (notices: readonly Notice[]) => void;

/** Makes a feed whose listeners hear something else than the feed gives. */
function hearing(feed: EventFeed, change: (hear: Hear) => Hear): EventFeed {
  return { ...feed, listen: (hear, options) => feed.listen(change(hear), options) };
}

/** Makes a feed that publishes other notices than it is given. */
function publishing(feed: EventFeed, change: (notices: readonly Notice[]) => readonly Notice[]): EventFeed {
  return { ...feed, publish: (notices) => feed.publish(change(notices)) };
}

/** Makes a feed whose listeners close in another way. */
function closing(feed: EventFeed, change: (listener: FeedSubscription) => FeedSubscription): EventFeed {
  return { ...feed, listen: async (hear, options) => change(await feed.listen(hear, options)) };
}

/**
 * Feeds with plausible mistakes, each a wrapper around a correct one. They show that the contract finds such mistakes.
 *
 * ```ts
 * import { memoryFeed } from "stepfold/feeds/memory";
 * import { brokenFeeds } from "stepfold/testing";
 *
 * for (const { name, breaks, caughtBy } of brokenFeeds) console.log(name, breaks(memoryFeed(), memoryFeed()).name, caughtBy);
 * ```
 */
export const brokenFeeds: readonly BrokenFeed[] = [
  {
    name: "is silent",
    caughtBy: "publish: every listener hears it, those of other processes and its own",
    breaks: (feed) => publishing(feed, () => []),
  },
  {
    name: "begins to hear after `listen` has resolved",
    caughtBy: "publish: it is heard once `listen` has resolved",
    breaks: (feed) => ({
      ...feed,
      async listen(hear, options) {
        setTimeout(() => void feed.listen(hear, options).catch(() => undefined), 50);
        return { close: async () => undefined };
      },
    }),
  },
  {
    name: "cuts long ids",
    caughtBy: "publish: kind, id, version, run and restarts come as they were",
    breaks: (feed) => publishing(feed, (notices) => notices.map((each) => ({ ...each, workflowId: each.workflowId.slice(0, 64) }))),
  },
  {
    name: "forgets run and restarts",
    caughtBy: "publish: kind, id, version, run and restarts come as they were",
    breaks: (feed) => publishing(feed, (notices) => notices.map(({ run: _, restarts: __, ...each }) => each)),
  },
  {
    name: "forgets the kind",
    caughtBy: "publish: kind, id, version, run and restarts come as they were",
    breaks: (feed) => publishing(feed, (notices) => notices.map((each) => ({ ...each, kind: "due" }))),
  },
  {
    name: "sends only what goes into one message",
    caughtBy: "publish: a thousand notices at once all come",
    breaks: (feed) => publishing(feed, (notices) => notices.slice(0, 100)),
  },
  {
    name: "publishes to every channel",
    caughtBy: "publish: nothing is heard on another channel",
    breaks: (feed, elsewhere) => ({
      ...feed,
      publish: async (notices) => void (await Promise.all([feed.publish(notices), elsewhere.publish(notices)])),
    }),
  },
  {
    name: "says something when there is nothing to say",
    caughtBy: "publish: no notices are no mistake, and nothing is heard",
    breaks: (feed) => publishing(feed, (notices) => (notices.length > 0 ? notices : [{ kind: "due", workflowId: "nothing", version: 0 }])),
  },
  {
    name: "passes on what is no notice",
    caughtBy: "listen: what others put into the channel is no notice, and ends nothing",
    breaks: (feed) => hearing(feed, (hear) => (notices) => hear([{ kind: "due", workflowId: "", version: -1 }, ...notices])),
  },
  {
    name: "gives up a listener that throws",
    caughtBy: "listen: a listener that throws harms no other, and hears on",
    breaks: (feed) =>
      hearing(feed, (hear) => {
        let isUp = true;
        return (notices) => {
          if (!isUp) return;
          isUp = false;
          hear(notices);
          isUp = true;
        };
      }),
  },
  {
    name: "goes on telling a listener that was closed",
    caughtBy: "close of a listener: it hears nothing more, and others do",
    breaks: (feed) => closing(feed, () => ({ close: async () => undefined })),
  },
  {
    name: "tells those who closed it of an end",
    caughtBy: "close: its listeners hear nothing more, and nobody is told of an end",
    breaks(feed) {
      const ends = new Set<(error: unknown) => void>();
      return {
        ...feed,
        listen(hear, options) {
          ends.add(options.onEnd);
          return feed.listen(hear, options);
        },
        async close() {
          for (const end of ends) end("closed");
          await feed.close();
        },
      };
    },
  },
  {
    name: "publishes after it was closed",
    caughtBy: "close: every call after it is FEED_UNAVAILABLE",
    breaks(feed) {
      let isClosed = false;
      return {
        ...feed,
        publish: async (notices) => (isClosed ? undefined : feed.publish(notices)),
        async close() {
          isClosed = true;
          await feed.close();
        },
      };
    },
  },
];
