import type { Notice } from "../../../ports/event-feed.ts";
import { ContractViolation, equal } from "../../expectations.ts";
import type { FeedContractCase } from "./feed-contract-case.ts";
import { heardInTime, hearFeed, newNotice, quietTime } from "./hearing.ts";

/** What a feed promises about published notices, and about those who listen to them. */
export const feedPublishCases: readonly FeedContractCase[] = [
  {
    name: "publish: every listener hears it, those of other processes and its own",
    async run(bench) {
      const other = await bench.open();
      const hearings = [await hearFeed(bench.feed), await hearFeed(other), await hearFeed(other)];
      await bench.feed.publish([newNotice("order-1")]);
      await heardInTime(bench, () => hearings.every(({ heard }) => heard.length > 0), "a notice is heard by all");
    },
  },
  {
    name: "publish: it is heard once `listen` has resolved",
    async run(bench) {
      const hearing = await hearFeed(await bench.open());
      await bench.feed.publish([newNotice("at-once")]);
      await heardInTime(bench, () => hearing.heard.length > 0, "what is published right after `listen`");
    },
  },
  {
    name: "publish: kind, id, version, run and restarts come as they were",
    async run(bench) {
      const hearing = await hearFeed(await bench.open());
      const odd = ["a'b\"c\\d", "bestellung/ä/7", "😀", "x".repeat(255), "$1 %s {0}", "😀".repeat(127)];
      const sent: Notice[] = odd.map((id, index) => newNotice(id, "ended", index));
      sent.push(newNotice("a", "due", Number.MAX_SAFE_INTEGER), newNotice("b", "waiting", 0), newNotice("c", "test", 7));
      sent.push({ ...newNotice("d", "ended"), run: 3 }, { ...newNotice("e", "ended"), restarts: 2 });
      sent.push({ ...newNotice("f", "waiting"), run: 2, restarts: 1 });
      await bench.feed.publish(sent);
      await heardInTime(bench, () => hearing.heard.length >= sent.length, "all notices of one call");
      const byId = (notices: readonly Notice[]): Notice[] =>
        [...notices].sort((one, two) => (`${one.kind} ${one.workflowId}` < `${two.kind} ${two.workflowId}` ? -1 : 1));
      equal(byId(hearing.heard), byId(sent), "the notices");
    },
  },
  {
    name: "publish: a thousand notices at once all come",
    async run(bench) {
      const hearing = await hearFeed(await bench.open());
      const ids = Array.from({ length: 1_000 }, (_, index) => `an-execution-with-a-longer-id-${index}`);
      await bench.feed.publish(ids.map((id) => newNotice(id)));
      await heardInTime(bench, () => new Set(hearing.ids()).size === ids.length, "all of a thousand notices");
    },
  },
  {
    name: "publish: nothing is heard on another channel",
    async run(bench) {
      const elsewhere = await hearFeed(await bench.openElsewhere());
      const here = await hearFeed(bench.feed);
      await bench.feed.publish([newNotice("here")]);
      await heardInTime(bench, () => here.heard.length > 0, "a notice");
      await quietTime(bench);
      equal(elsewhere.ids(), [], "what is heard on another channel");
    },
  },
  {
    name: "publish: no notices are no mistake, and nothing is heard",
    async run(bench) {
      const hearing = await hearFeed(bench.feed);
      await bench.feed.publish([]);
      await quietTime(bench);
      equal(hearing.ids(), [], "what is heard of nothing");
    },
  },
  {
    name: "listen: what others put into the channel is no notice, and ends nothing",
    async run(bench) {
      const hearing = await hearFeed(bench.feed);
      const wrong = ["", "x", "{}", "[]", "null", '["due","a",1]', '[["bogus","a",1]]', '[["due","",1]]', '[["due",7,1]]'];
      wrong.push('[["due","a",-1]]', '[["due","a",1.5]]', '[["due","a","1"]]', `[["due","${"a".repeat(300)}",1]]`, '[[["due","a",1]]]');
      for (const text of wrong) await bench.inject(text);
      await bench.feed.publish([newNotice("good")]);
      await heardInTime(bench, () => hearing.ids().includes("good"), "a notice after what is none");
      equal(hearing.ids(), ["good"], "what is heard");
    },
  },
  {
    name: "listen: a listener that throws harms no other, and hears on",
    async run(bench) {
      let heardByThrowing = 0;
      const throwing = (): void => {
        heardByThrowing++;
        throw new ContractViolation("a listener's own mistake");
      };
      await bench.feed.listen(throwing, { onEnd: () => undefined });
      const hearing = await hearFeed(bench.feed);
      for (const id of ["one", "two"]) {
        await bench.feed.publish([newNotice(id)]);
        await heardInTime(bench, () => hearing.ids().includes(id), "a notice beside a listener that throws");
      }
      await heardInTime(bench, () => heardByThrowing >= 2, "the second notice, by the listener that throws");
    },
  },
];
