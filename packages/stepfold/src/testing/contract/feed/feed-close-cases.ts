import { equal, holds, rejectsWith } from "../../expectations.ts";
import type { FeedContractCase } from "./feed-contract-case.ts";
import { heardInTime, hearFeed, newNotice, quietTime } from "./hearing.ts";

/** What a feed promises about closing listeners and feeds. */
export const feedCloseCases: readonly FeedContractCase[] = [
  {
    name: "close of a listener: it hears nothing more, and others do",
    async run(bench) {
      const [closed, open] = [await hearFeed(bench.feed), await hearFeed(bench.feed)];
      await closed.close();
      await closed.close();
      await bench.feed.publish([newNotice("later")]);
      await heardInTime(bench, () => open.heard.length > 0, "a notice after another listener was closed");
      await quietTime(bench);
      equal(closed.ids(), [], "what a closed listener hears");
    },
  },
  {
    name: "close: its listeners hear nothing more, and nobody is told of an end",
    async run(bench) {
      const other = await bench.open();
      const kept = await hearFeed(bench.feed);
      const heard: unknown[] = [];
      let ends = 0;
      await other.listen((notices) => heard.push(...notices), { onEnd: () => ends++ });
      await other.close();
      await other.close();
      await bench.feed.publish([newNotice("later")]);
      await heardInTime(bench, () => kept.heard.length > 0, "a notice after another feed was closed");
      await quietTime(bench);
      equal(heard, [], "what a listener of a closed feed hears");
      holds(ends === 0, "a listener that was closed was told of an end");
    },
  },
  {
    name: "close: every call after it is FEED_UNAVAILABLE",
    async run({ feed }) {
      await feed.close();
      await rejectsWith("FEED_UNAVAILABLE", () => feed.publish([newNotice("a")]));
      await rejectsWith("FEED_UNAVAILABLE", () => feed.listen(() => undefined, { onEnd: () => undefined }));
    },
  },
];
