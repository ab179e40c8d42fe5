import { feedCloseCases } from "./contract/feed/feed-close-cases.ts";
import type { FeedContractCase } from "./contract/feed/feed-contract-case.ts";
import { feedPublishCases } from "./contract/feed/feed-publish-cases.ts";

/**
 * Every promise of an `EventFeed`, as data. Run the cases with any test runner, each with a new feed on its own channel.
 *
 * A case resolves, or rejects with a `ContractViolation` that says what is wrong, or with the feed's own error.
 *
 * ```ts
 * import { memoryFeed } from "stepfold/feeds/memory";
 * import { eventFeedContract } from "stepfold/testing";
 *
 * for (const contractCase of eventFeedContract.slice(0, 2)) {
 *   const feed = memoryFeed();
 *   const bench = { feed, open: async () => feed, openElsewhere: async () => memoryFeed(), inject: async () => {}, patienceMs: 1000 };
 *   await contractCase.run(bench);
 * }
 * ```
 */
export const eventFeedContract: readonly FeedContractCase[] = [...feedPublishCases, ...feedCloseCases];
