import { describe, expect, it } from "vitest";
import { memoryFeedBench } from "../../test/feeds/memory-feed-bench.fixture.ts";
import { StepfoldError } from "../core/errors/stepfold-error.ts";
import { brokenFeeds, ContractViolation, eventFeedContract, type FeedBench } from "./index.ts";

describe("the contract of EventFeed", () => {
  for (const { name, caughtBy, breaks } of brokenFeeds) {
    it(`notices a feed that ${name}`, async () => {
      const contractCase = eventFeedContract.find((each) => each.name === caughtBy)!;
      const bench = memoryFeedBench();
      const elsewhere = await bench.openElsewhere();
      const broken: FeedBench = {
        ...bench,
        patienceMs: 100,
        feed: breaks(bench.feed, elsewhere),
        open: async () => breaks(await bench.open(), elsewhere),
        openElsewhere: async () => elsewhere,
      };
      const failure: unknown = await contractCase.run(broken).catch((error: unknown) => error);
      // Any other error would be a mistake of the wrapper.
      expect(failure instanceof ContractViolation || StepfoldError.is(failure), String(failure)).toBe(true);
    });
  }

  it("has a name of its own for every case, and a broken feed for every case", () => {
    const names = eventFeedContract.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(brokenFeeds.map(({ caughtBy }) => caughtBy))).toEqual(new Set(names));
  });
});
