import { afterAll, describe, it } from "vitest";
import type { EventFeed } from "../../src/ports/event-feed.ts";
import { eventFeedContract, type FeedBench } from "../../src/testing/index.ts";
import { meetsNoServer } from "../testing/no-server.fixture.ts";

/** A feed that the contract runs on. */
export interface FeedSubject {
  /** The URL of the server. Null if the server does not answer: the tests are skipped with a message, or fail with REQUIRE_SERVICES=1. */
  readonly url?: string | null;
  readonly bench: (index: number) => Promise<FeedBench>;
  readonly close?: () => Promise<unknown>;
}

/** Runs the whole contract on a feed. */
export function feedContractOf(name: string, { url = "", bench, close }: FeedSubject): void {
  describe(`EventFeed contract: ${name}`, () => {
    if (url === null) {
      meetsNoServer(name);
      return;
    }
    if (close) afterAll(async () => void (await close()));
    for (const [index, { name: title, run }] of eventFeedContract.entries()) {
      it(title, async () => {
        const feeds: EventFeed[] = [];
        const opened = await bench(index);
        const kept = async (opening: Promise<EventFeed>): Promise<EventFeed> => {
          const feed = await opening;
          feeds.push(feed);
          return feed;
        };
        try {
          await run({ ...opened, open: () => kept(opened.open()), openElsewhere: () => kept(opened.openElsewhere()) });
        } finally {
          await Promise.all([opened.feed, ...feeds].map((feed) => feed.close()));
        }
      });
    }
  });
}
